import { useEffect, useReducer, useRef } from 'react'

/** How long scrolling must rest before the rows' elements are put in order. */
const REST_MS = 500

/** An element of the table and the row that it shows. */
export interface RowPlace {
  key: number
  index: number
}

/**
 * An element for each row from `first` to `last`. Scrolling reuses the elements of rows that have left the view, which
 * costs a fraction of new ones; once it rests, the elements are put in the order of the rows, in which they are read out.
 */
export function useRowPlaces(first: number, last: number): readonly RowPlace[] {
  const places = useRef<readonly RowPlace[]>([])
  const [, draw] = useReducer((times: number) => times + 1, 0)
  places.current = assignRows(places.current, first, last)
  const isInOrder = places.current.every(({ index }, at) => index === first + at)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move of the view puts the rest off
  useEffect(() => {
    if (isInOrder) return
    const rest = setTimeout(() => {
      places.current = places.current.toSorted((a, b) => a.index - b.index)
      draw()
    }, REST_MS)
    return () => clearTimeout(rest)
  }, [isInOrder, first, last])
  return places.current
}

/** Gives rows that have come into view the elements of those that have left it; rows that stay keep theirs. */
export function assignRows(places: readonly RowPlace[], first: number, last: number): readonly RowPlace[] {
  const isShown = ({ index }: RowPlace) => index >= first && index <= last
  const shown = new Set(places.filter(isShown).map(({ index }) => index))
  if (shown.size === places.length && shown.size === last - first + 1) return places
  const missing: number[] = []
  for (let index = first; index <= last; index += 1) if (!shown.has(index)) missing.push(index)
  const reused = places.flatMap((place) => {
    if (isShown(place)) return [place]
    const index = missing.shift()
    return index === undefined ? [] : [{ key: place.key, index }]
  })
  const nextKey = Math.max(-1, ...places.map(({ key }) => key)) + 1
  return [...reused, ...missing.map((index, at) => ({ key: nextKey + at, index }))]
}
