type CharacterFault = readonly [pattern: RegExp, fault: string, hint: string]

/** The faults of one character, the first that applies. */
const characterFaults: readonly CharacterFault[] = [
  [
    /[\r\n]/u,
    'is a line break',
    'Remove all line breaks: encode with base64 -w0, or without the MIME option of your library.',
  ],
  [/\s/u, 'is a space', 'Remove all spaces; a form that is not escaped needs + as %2B.'],
  [/[-_]/u, 'belongs to base64url', 'Use the standard alphabet: replace - by + and _ by /.'],
  [/=/u, 'is padding before the end', 'Send one base64 text, with = only at its end.'],
  [/./su, 'is not in the alphabet A-Z a-z 0-9 + /', 'Encode the bytes of the file as base64.'],
]

/**
 * Describes the first fault of a text that is not base64 as RFC 4648 section 4 defines it, with its
 * position: characters are counted from 1. It repeats no text. The hint is one sentence: what to change.
 */
export function describeBase64Fault(text: string) {
  if (/^[a-z][a-z0-9+.-]{1,15}:/iu.test(text))
    return {
      fault: 'it is an address',
      hint: 'Send the bytes of the picture as base64; the service downloads nothing.',
    }
  const length = text.search(/={0,2}$/u)
  const faultIndex = text.slice(0, length).search(/[^A-Za-z0-9+/]/u)
  if (faultIndex === -1) return describeEnd(length, text.length - length)
  // The fault of padding before white space is the white space.
  const nextIndex = faultIndex + Math.max(0, text.slice(faultIndex).search(/[^=]/u))
  const index = /\s/u.test(text[nextIndex] ?? '') ? nextIndex : faultIndex
  const found = characterFaults.find(([pattern]) => pattern.test(text[index] ?? ''))
  const [, fault = '', hint = ''] = found ?? []
  return { fault: `character ${index + 1} ${fault}`, hint }
}

/** Describes the end of a text of valid characters: their number, their padding or the last one. */
function describeEnd(length: number, paddingCount: number) {
  const needed = (4 - (length % 4)) % 4
  if (needed === 3)
    return {
      fault: `the text ends after character ${length}, within a byte`,
      hint: 'Send the complete text.',
    }
  if (paddingCount === needed)
    return {
      fault: `character ${length} has bits that belong to no byte`,
      hint: 'Encode the file again: the text was changed or truncated.',
    }
  const isShort = paddingCount < needed
  return {
    fault: `the padding ${isShort ? 'is missing' : 'is too long'} after character ${length}`,
    hint: `Pad the text to a multiple of four characters: ${isShort ? `append ${'='.repeat(needed - paddingCount)}` : 'remove ='}.`,
  }
}
