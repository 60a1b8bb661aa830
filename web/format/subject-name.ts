const shortIdChars = 8

/** Returns the first characters of an id, which people compare. */
export function shortIdOf(id: string): string {
  return id.slice(0, shortIdChars)
}

/** The ids and the name of a subject, which responses contain. */
export type NamedSubject = {
  readonly subjectId: string
  readonly displayName?: string | null
  readonly externalId?: string | null
}

/** Returns the name of a subject that people recognize: its name, else its external id, else a short id. */
export function subjectNameOf({ displayName, externalId, subjectId }: NamedSubject): string {
  return displayName ?? externalId ?? shortIdOf(subjectId)
}
