import { IconUser } from '@tabler/icons-react'
import { cropUrl } from '../subjects/subject-thumbnail.tsx'
import type { NamedSubject } from '../../format/subject-name.ts'
import './people.css'

type Props = {
  readonly projectId: string
  readonly subject: NamedSubject
  /** The face with a stored crop; undefined: the initials are shown. */
  readonly faceId: string | undefined
}

/** The face of a subject, or its initials, in the width of its container. */
export function SubjectFace({ projectId, subject, faceId }: Props) {
  if (faceId !== undefined) {
    const src = cropUrl({ projectId, subjectId: subject.subjectId, faceId })
    return <img className="fg-crop fg-face" src={src} alt="" loading="lazy" />
  }
  const initials = initialsOf(subject)
  // The name of the button that contains them is its label, so that they are no text of it.
  return (
    <span className="fg-crop fg-face" data-initials={initials} aria-hidden>
      {initials === '' && <IconUser size={48} />}
    </span>
  )
}

/** Returns the first letters of the first and the last word of a name; empty without a name. */
function initialsOf({ displayName, externalId }: NamedSubject): string {
  const words = (displayName ?? externalId ?? '').match(/[\p{L}\p{N}]+/gu) ?? []
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words
  return letters
    .map((word) => String.fromCodePoint(word?.codePointAt(0) ?? 0))
    .join('')
    .toUpperCase()
}
