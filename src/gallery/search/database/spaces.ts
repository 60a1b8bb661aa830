import type { ReadTx } from '../../../store/tx.ts'
import type { SubjectKeys } from '../../keys/subject-keys.ts'
import { createRotation, type Rotation } from './rotation.ts'

/**
 * The spaces that vectors lie in. A gallery's vectors of a model are rotated as its key says that
 * wraps the keys of their subjects; a space is called by that key's id. While the keys are being
 * rotated a gallery has two spaces, and a search asks both. null: not rotated.
 */
export type Spaces = {
  /** The space for a new vector of a subject whose key is wrapped by this key. */
  readonly of: (keyId: string) => string | null
  /** @param dimensions of the points, one more than of the model's vectors. */
  readonly rotation: (
    reading: ReadTx,
    space: string | null,
    model: { readonly modelId: string; readonly dimensions: number },
  ) => Promise<Rotation>
}

/** Rotations kept at hand: 64 of 257 dimensions take 17 MB; making one takes some milliseconds. */
const rotationsMax = 64

export function createSpaces(
  keys: SubjectKeys,
  { isRotated }: { readonly isRotated: boolean },
): Spaces {
  /** The one that was used last stands last. */
  const made = new Map<string, Rotation>()
  return {
    of: (keyId) => (isRotated ? keyId : null),
    rotation: async (reading, space, { modelId, dimensions }) => {
      if (space === null) return asItIs
      const name = `${space} ${modelId}`
      const rotation =
        made.get(name) ??
        createRotation(await keys.derive(reading, space, `space|${modelId}`), dimensions)
      made.delete(name)
      made.set(name, rotation)
      const [oldest] = made.keys()
      if (made.size > rotationsMax && oldest !== undefined) made.delete(oldest)
      return rotation
    },
  }
}

const asItIs: Rotation = () => {}
