/** The plain form of the failures of the file system and of the network, by their code. */
const systemFailures: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be accessed: the permissions of this user do not allow it',
  EPERM: 'cannot be changed: the permissions of this user do not allow it',
  ENOTDIR: 'is not a folder, or a part of its path is a file',
  EISDIR: 'is a folder, but a file is needed',
  EEXIST: 'exists already',
  ENOSPC: 'cannot be written: the disk is full; free space on it',
  EROFS: 'cannot be written: the file system is read-only',
}

/** The plain form of the failures of SQLite, by the low byte of their code. */
const databaseFailures: Readonly<Record<number, string>> = {
  11: 'the database file is damaged; use an intact copy (facegate restore)',
  13: 'the disk is full; free space on it',
  14: 'the database file cannot be opened; it must be a file that this user may write',
  26: 'the database file is not a database; use an intact copy (facegate restore)',
}

/** Returns the message of an error in one line, without the text of a system call. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('errcode' in error) return databaseFailures[Number(error.errcode) & 0xff] ?? error.message
  if (!('code' in error) || !('syscall' in error)) return error.message
  if (error.code === 'EACCES' && 'port' in error)
    return `this user may not open port ${String(error.port)}; set PORT to 1024 or higher`
  const failure = systemFailures[String(error.code)]
  if (failure === undefined) return error.message
  // A copy fails because the disk of its target is full.
  if (error.code === 'ENOSPC' && 'dest' in error) return `${String(error.dest)} ${failure}`
  // A failure of an open file has no path.
  return `${'path' in error ? String(error.path) : 'a file'} ${failure}`
}
