/** Text in the order of its code points, as SQLite has it: pages of lists rely on it. */
export const text = 'text collate "C"'

export function flag(name: string, fallback: 0 | 1): string {
  return `"${name}" integer not null default ${fallback} check ("${name}" in (0, 1))`
}

/** A SHA-256. */
export function hash(name: string): string {
  return `"${name}" bytea not null check (length("${name}") = 32)`
}

/** Rows that are changed again and again leave room beside them, so that no index need change. */
export const roomy = 'with (fillfactor = 50)'
