export function flag(name: string, fallback: 0 | 1): string {
  return `${name} integer not null default ${fallback} check (${name} in (0, 1))`
}

/** A SHA-256 hash. */
export function hash(name: string): string {
  return `${name} blob not null check (length(${name}) = 32)`
}
