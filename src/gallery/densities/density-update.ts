import type { DensityCohort } from '../../lib/density/cohort-density.ts'

/**
 * A change of a recognition model that kept its vectors and changed its cohort. A template of the
 * earlier version becomes one of the later version by computing its density again.
 */
export type DensityUpdate = DensityCohort & {
  /** "id@version" of the earlier version. */
  readonly fromModelId: string
  /** "id@version" of the version that the cohort belongs to. */
  readonly toModelId: string
}

/** The state of the updates on this server. */
export type DensityProgress = {
  /** Templates of earlier versions when they were last counted, less those updated since. */
  readonly pending: number
  /** Templates that this process has updated since its start. */
  readonly updated: number
  /** Templates that cannot be decrypted. They stay as they are and match nothing. */
  readonly failed: number
}
