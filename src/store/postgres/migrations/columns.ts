/** Text ordered by code points, as in SQLite; paging through lists depends on this order. */
export const text = 'text collate "C"'

export function flag(name: string, fallback: 0 | 1): string {
  return `"${name}" integer not null default ${fallback} check ("${name}" in (0, 1))`
}

/** A SHA-256 hash. */
export function hash(name: string): string {
  return `"${name}" bytea not null check (length("${name}") = 32)`
}

/** Leaves free space on pages with frequently updated rows, so that updates need no index changes. */
export const freeSpace = 'with (fillfactor = 50)'
