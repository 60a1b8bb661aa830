import type { ResultProblem } from './envelope.ts'
import { qualityReasonTexts } from './words.ts'

/** What a user of the console can do. The hints of responses name parameters of the API. */
const remedies: Readonly<Record<string, string>> = {
  NO_FACE_FOUND: 'Choose a picture that shows the face upright, well lit and not cut off.',
  MULTIPLE_FACES: 'Choose a picture of one person, or use the largest face, below.',
  FACE_TOO_SMALL: 'Choose a larger picture, or one taken nearer to the face.',
  LOW_QUALITY: 'Take the picture again and avoid these problems.',
  SUBJECT_FACE_MISMATCH:
    'Choose another picture, or enroll it nevertheless if you are certain that it is the same person.',
}

const reasons: Readonly<Record<string, string>> = qualityReasonTexts

/** Returns why a picture was refused and what to do, without parameters and codes of the API. */
export function refusalText({ code, message, hint }: ResultProblem): string {
  const cause = message
    .replace(/^[\w.[\]]+: /u, '')
    .replaceAll(/\b[A-Z]+(?:_[A-Z]+)+\b/gu, (reason) => reasons[reason] ?? reason)
  const remedy = remedies[code] ?? hint
  return `${cause.charAt(0).toUpperCase()}${cause.slice(1)}.${remedy === undefined ? '' : ` ${remedy}`}`
}
