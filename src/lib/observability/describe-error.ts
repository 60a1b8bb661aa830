import texts from './failure-texts.json' with { type: 'json' }

/** The plain form of failures: of the file system by their code, of SQLite by its low byte. */
const { system, database }: Readonly<Record<keyof typeof texts, Readonly<Record<string, string>>>> =
  texts

/** Returns the message of an error in one line, without the text of a system call. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('errcode' in error) return database[Number(error.errcode) & 0xff] ?? error.message
  if (!('code' in error) || !('syscall' in error)) return error.message
  const failure = system[String(error.code)]
  if (failure === undefined) return error.message
  // A failure of an open file has no path.
  return `${'path' in error ? String(error.path) : 'a file'} ${failure}`
}
