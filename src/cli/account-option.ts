import { anyText } from './command-line/value-kinds.ts'
import { optional } from './options.ts'

/** The account of a command that otherwise concerns the oldest one. */
export const optionalAccount = optional(
  '<id or name>',
  'the account, if the database has several; without it, the oldest one',
  anyText,
)
