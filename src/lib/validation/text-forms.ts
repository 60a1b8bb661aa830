/** Browsers send an origin exactly as `URL` writes it. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  const isExact = url !== null && url.origin === text && !text.includes('*')
  return isExact && /^https?:$/u.test(url.protocol)
}

/**
 * A name without invisible characters, except the joiners that Persian, the languages of India and emoji
 * need (U+200C and U+200D), after a letter, a mark or an emoji.
 */
export const namePattern =
  /^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200C\u200D])*$/u
