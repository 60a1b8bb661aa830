import type { Gallery } from '../gallery/gallery.ts'
import { ActionError } from '../lib/errors.ts'
import type { SubjectRow } from '../store/schema.ts'
import type { Tx } from '../store/tx.ts'

type NewFace = Parameters<Gallery['addFace']>[2]

/** A tenth of all strangers are as alike: whoever is less so is somebody else. */
const similarityMin = 0.5

/**
 * Adds a face to a subject, if it looks like it.
 *
 * @returns the id of the face.
 * @throws ActionError SUBJECT_FACE_MISMATCH unless forced, TEMPLATE_LIMIT_REACHED, GALLERY_FULL.
 */
export function addGuarded(
  gallery: Gallery,
  tx: Tx,
  subject: SubjectRow,
  { face, force }: { readonly face: NewFace; readonly force: boolean },
): string {
  // A subject without templates of the active model cannot be compared with.
  const best = force ? undefined : gallery.best(tx, subject, face.template)
  if (best && best.similarity < similarityMin)
    throw new ActionError(
      'SUBJECT_FACE_MISMATCH',
      `the face is ${best.similarity.toFixed(2)} like the subject, below ${similarityMin}`,
    )
  return gallery.addFace(tx, subject, face)
}
