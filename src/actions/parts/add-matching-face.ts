import { ActionError } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/schema.ts'
import type { Tx } from '../../store/tx.ts'
import type { ActionCall } from '../action.ts'
import { toNewFace } from './store-face.ts'
import type { ProbeFace } from './extract-probes.ts'

/** A tenth of all strangers are as alike: whoever is less so is somebody else. */
const similarityMin = 0.5

/**
 * Adds a face to a subject, if it looks like it.
 *
 * @returns the id of the face.
 * @throws ActionError SUBJECT_FACE_MISMATCH unless forced, TEMPLATE_LIMIT_REACHED, GALLERY_FULL.
 */
export async function addMatchingFace(
  call: Pick<ActionCall<unknown>, 'caller' | 'services'>,
  tx: Tx,
  subject: SubjectRow,
  { seen, force }: { readonly seen: ProbeFace; readonly force: boolean },
): Promise<string> {
  const { gallery } = call.services
  // A subject without templates of a loaded model cannot be compared with.
  const best = force ? undefined : await gallery.matchSubject(tx, subject, seen.probes)
  if (best && best.similarity < similarityMin)
    throw new ActionError(
      'SUBJECT_FACE_MISMATCH',
      `the face is ${best.similarity.toFixed(2)} like the subject, below ${similarityMin}`,
    )
  return gallery.addFace(tx, subject, await toNewFace(call, tx, seen))
}
