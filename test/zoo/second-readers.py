"""Answers lines of JSON, such as {"reader": "openpyxl", "path": "book.xlsx"}, with the cells that a reader finds."""

import csv
import datetime
import gzip
import json
import re
import sys
import warnings

warnings.simplefilter("ignore")
csv.field_size_limit(2**31 - 1)
MAX_CELLS = 400_000
TOKEN = re.compile(r"yyyy|yyy|yy|mmmmm|mmmm|mmm|mm|m|dddd|ddd|dd|d|hh|h|ss|s|am/pm|\"[^\"]*\"|\\.|.", re.IGNORECASE | re.DOTALL)


def show_date(code, moment):
    """The text of a date in a simple format as a spreadsheet shows it; None for what this does not know."""
    if code is None or re.search(r"[\[;@#?*_]|general|e|ss\.0|b", re.sub(r'"[^"]*"|\\.', "", code), re.IGNORECASE):
        return None
    if not isinstance(moment, datetime.datetime):
        return None
    if moment.microsecond:
        return None
    tokens = TOKEN.findall(code)
    is_half = any(token.lower() == "am/pm" for token in tokens)
    hour = (moment.hour % 12 or 12) if is_half else moment.hour
    parts = []
    for index, token in enumerate(tokens):
        low = token.lower()
        if low in ("m", "mm"):
            letters = [(i, t.lower()) for i, t in enumerate(tokens) if re.match(r"[hsdy]", t, re.IGNORECASE)]
            before = [t for i, t in letters if i < index]
            after = [t for i, t in letters if i > index]
            is_minute = (before and before[-1][0] == "h") or (after and after[0][0] == "s")
            number = moment.minute if is_minute else moment.month
            parts.append(f"{number:02}" if low == "mm" else str(number))
        elif low in ("yyyy", "yyy", "yy", "mmm", "mmmm", "ddd", "dddd", "dd"):
            how = {"yyyy": "%Y", "yyy": "%Y", "yy": "%y", "mmm": "%b", "mmmm": "%B", "ddd": "%a", "dddd": "%A", "dd": "%d"}[low]
            parts.append(moment.strftime(how).zfill(4) if low.startswith("yyy") else moment.strftime(how))
        elif low == "mmmmm":
            parts.append(moment.strftime("%B")[0])
        elif low == "d":
            parts.append(str(moment.day))
        elif low in ("h", "hh"):
            parts.append(f"{hour:02}" if low == "hh" else str(hour))
        elif low in ("s", "ss"):
            parts.append(f"{moment.second:02}" if low == "ss" else str(moment.second))
        elif low == "am/pm":
            parts.append("AM" if moment.hour < 12 else "PM")
        elif len(token) > 1 and token[0] in '"\\':
            parts.append(token[1:].rstrip('"') if token[0] == '"' else token[1:])
        else:
            parts.append(token)
    return "".join(parts).strip()


def to_cell(value, code=None):
    if isinstance(value, bool):
        return {"kind": "boolean", "value": "TRUE" if value else "FALSE"}
    if isinstance(value, (int, float)):
        return {"kind": "number", "value": repr(value), "format": code}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)):
        cell = {"kind": "date", "value": str(value), "format": code}
        shown = show_date(code, value)
        if shown is not None:
            cell["shown"] = shown
        return cell
    return {"kind": "text", "value": str(value)}


def read_openpyxl(path):
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True, read_only=False)
    tables = []
    left = MAX_CELLS
    for sheet in book.worksheets:
        cells = {}
        # Texts of cells that a merged one covers are not kept.
        for merged in sheet.merged_cells.ranges:
            if merged.size["rows"] * merged.size["columns"] > 10_000:
                continue
            for row, column in merged.cells:
                cells[f"{row},{column}"] = {"kind": "unknown", "value": ""}
        for (row, column), cell in sorted(sheet._cells.items()):
            if cell.value is None:
                continue
            left -= 1
            link = cell.hyperlink
            if link is not None and cell.value in (link.target, link.location):
                # An empty cell gets the address of its link.
                cells[f"{row},{column}"] = {"kind": "unknown", "value": ""}
            elif cell.data_type == "e":
                cells[f"{row},{column}"] = {"kind": "error", "value": str(cell.value)}
            else:
                cells[f"{row},{column}"] = to_cell(cell.value, cell.number_format)
        # A part of a sheet cannot be compared.
        if left < 0:
            break
        tables.append({"sheet": sheet.title, "cells": cells})
    return tables


def read_calamine(path):
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(path)
    tables = []
    left = MAX_CELLS
    for name in book.sheet_names:
        sheet = book.get_sheet_by_name(name)
        cells = {}
        for row, values in enumerate(sheet.to_python(skip_empty_area=False), 1):
            for column, value in enumerate(values, 1):
                if value is not None and value != "":
                    left -= 1
                    cells[f"{row},{column}"] = to_cell(value)
        if left < 0:
            break
        tables.append({"sheet": name, "cells": cells})
    return tables


def read_csv(path, encoding, delimiter, quote, escape):
    """Reads text with the delimiter and quotes that it was read with; without a delimiter, a line is one cell."""
    names = {"macintosh": "mac_roman", "windows-874": "cp874", "big5": "cp950", "shift_jis": "cp932", "euc-kr": "cp949"}
    rows = []
    left = MAX_CELLS
    codec = names.get(encoding, encoding) or "utf-8"
    with open(path, "rb") as head:
        opened = gzip.open if head.read(2) == b"\x1f\x8b" else open
    with opened(path, "rt", encoding=codec, errors="replace", newline="") as lines:
        quoting = csv.QUOTE_NONE if quote == "" else csv.QUOTE_MINIMAL
        reader = csv.reader(
            lines,
            delimiter=delimiter or "\x1f",
            quotechar=quote or None,
            quoting=quoting,
            escapechar=escape or None,
        )
        for values in reader:
            if not rows and values:
                values[0] = values[0].removeprefix("\ufeff")
            if not any(values):
                continue
            left -= len(values)
            if left < 0:
                break
            rows.append(values)
    return [{"sheet": "", "cells": {}, "rows": rows}]


def answer(question):
    reader, path = question["reader"], question["path"]
    try:
        if reader == "openpyxl":
            tables = read_openpyxl(path)
        elif reader == "calamine":
            tables = read_calamine(path)
        else:
            how = [question[name] for name in ("encoding", "delimiter", "quote", "escape")]
            tables = read_csv(path, *how)
        return {"tables": tables, "refused": None}
    except BaseException as error:  # Calamine panics with one that is no Exception.
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"tables": [], "refused": f"{type(error).__name__}: {str(error)[:200]}"}


# Readers print remarks, which are no answers.
ANSWERS = sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    ANSWERS.write(json.dumps(answer(json.loads(line))) + "\n")
    ANSWERS.flush()
