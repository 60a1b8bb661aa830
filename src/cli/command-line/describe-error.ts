/** The plain form of the failures of the file system and of the network, by their code. */
const systemFailures: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be accessed: the permissions of this user do not allow it',
  EPERM: 'cannot be changed: the permissions of this user do not allow it',
  ENOTDIR: 'is not a folder, or a part of its path is a file',
  EISDIR: 'is a folder, but a file is needed',
  EEXIST: 'exists already',
  ENOSPC: 'cannot be written: the disk is full',
  EROFS: 'cannot be written: the file system is read-only',
}

/** Returns the message of an error in one line, without the text of a system call. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!('code' in error) || !('path' in error) || !('syscall' in error)) return error.message
  const failure = systemFailures[String(error.code)]
  return failure === undefined ? error.message : `${String(error.path)} ${failure}`
}
