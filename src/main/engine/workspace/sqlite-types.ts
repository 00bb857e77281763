/** What readers and writers of a journal pass around; only the journal itself opens a database. */
export type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
