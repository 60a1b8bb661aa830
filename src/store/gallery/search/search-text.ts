import type { SubjectRow } from '../../gallery-schema.ts'

/** Letters with a stroke and ligatures, which have no decomposition in Unicode. */
const plainLetters: Readonly<Record<string, string>> = {
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ŧ: 't',
  þ: 'th',
  // The other form of σ, at the end of a word.
  ς: 'σ',
}

/** Combining accents of Latin, Greek and Cyrillic. The vowel signs of other scripts are letters. */
const accents = /[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20F0\uFE20-\uFE2F]/gu

/**
 * Returns text without the differences that a search ignores: case, accents, compatibility forms such
 * as full-width letters, invisible characters such as joiners, and kinds of white space. Both engines
 * store and compare this form.
 */
export function foldText(text: string): string {
  return text
    .replaceAll(/\p{Cf}/gu, '')
    .normalize('NFKD')
    .toLowerCase() // ẞ becomes ß.
    .toUpperCase() // ß becomes SS.
    .normalize('NFKD')
    .replaceAll(accents, '')
    .toLowerCase()
    .replaceAll(/[æđðħłøœŧþς]/gu, (letter) => plainLetters[letter] ?? letter)
    .normalize('NFKC')
    .replaceAll(/\s/gu, ' ')
}

/** Between the two texts of a subject. Folded text never contains it. */
const separator = '\n'

/** A folded name has up to 4,608 characters; an entry of an index of PostgreSQL at most 2,704 bytes. */
const foldedCharsMax = 256

/**
 * Returns the text in which a subject is searched, and by which subjects are sorted: its display name and
 * its external id, folded, at most 256 characters of each.
 */
export function searchTextOf({
  displayName,
  externalId,
}: Pick<SubjectRow, 'displayName' | 'externalId'>): string {
  return [displayName, externalId]
    .map((text) => foldText(text ?? '').slice(0, foldedCharsMax))
    .join(separator)
}
