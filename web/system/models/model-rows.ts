import type { ModelsOverview } from '../../api/responses.ts'
import type { StatusTone } from '../../components/status-tag.tsx'

export type ModelRow = ModelsOverview['models'][number]

/** The tasks of networks, in the order of the page. */
export const modelTasks = [
  { role: 'detector', title: 'Detectors' },
  { role: 'recognizer', title: 'Recognizers' },
  { role: 'liveness', title: 'Liveness' },
  { role: 'attributes', title: 'Attributes' },
  { role: 'landmarks', title: 'Landmarks' },
] as const

/** The roles whose networks can be exchanged. */
export const selectableRoles: readonly string[] = ['detector', 'recognizer', 'liveness']

export function packOf({ model }: Pick<ModelRow, 'model'>): string {
  return model.split('/')[0] ?? ''
}

/** Returns whether the server uses a network, now or after its next start. */
export function isInUse({ use, nextUse }: Pick<ModelRow, 'use' | 'nextUse'>): boolean {
  return use !== null || nextUse !== null
}

/** Returns whether a recognizer will be used together with another one: either can be selected alone. */
export function isPartOfTwo(model: ModelRow, models: readonly ModelRow[]): boolean {
  // A network with further tasks is in use for them, too.
  const isRecognizer = ({ roles }: ModelRow) => roles.every((role) => role === 'recognizer')
  const recognizers = models.filter((each) => isRecognizer(each) && each.nextUse === 'active')
  return isRecognizer(model) && new Set(recognizers.map(packOf)).size > 1
}

type ModelState = { readonly tone: StatusTone; readonly text: string }

/** Returns how the server uses a network, in words. */
export function stateOf({ state, use, nextUse, isOutdated }: ModelRow): ModelState {
  if (use === 'active')
    return nextUse === 'active'
      ? { tone: 'ok', text: 'in use' }
      : { tone: 'warn', text: 'in use until the restart' }
  if (nextUse === 'active') return { tone: 'warn', text: 'in use after the restart' }
  if (use === 'former' || nextUse === 'former')
    return { tone: 'plain', text: 'for older templates' }
  if (isOutdated) return { tone: 'warn', text: 'update available' }
  if (state === 'available') return { tone: 'plain', text: 'not installed' }
  return { tone: 'plain', text: state === 'built-in' ? 'built in' : 'installed' }
}

/** Returns whether the licence requires that a user accepts it, as on the command line. */
export function isRestricted({ commercialUse }: Pick<ModelRow, 'commercialUse'>): boolean {
  return commercialUse !== 'allowed'
}
