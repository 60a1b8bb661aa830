/** What an operator wants to know of a database. */
export type DatabaseInfo = {
  readonly kind: 'sqlite' | 'postgres'
  /** A file, or the server and the name of its database; never a password. */
  readonly place: string
  /** Of the engine, and of its extension for vectors where it has one. */
  readonly version: string
  /** What it takes on the disk. */
  readonly bytes: number
  /** Who is at work on it, the longest first; an embedded database has its one process. */
  readonly servers: readonly ServerInfo[]
}

export type ServerInfo = {
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly startedAtUtc: string
  readonly seenAtUtc: string
}
