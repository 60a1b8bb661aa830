import { splitList } from '../lib/setting.ts'
import { listModels } from './installed-packs.ts'
import type { ModelSet } from './model-set.ts'

export type LicenceSettings = {
  readonly MODEL_LICENCES: 'any' | 'commercial'
  readonly MODEL_LICENCES_CLEARED: string
}

/**
 * Applies MODEL_LICENCES to the networks of a set, former recognizers included.
 *
 * @param before a set whose networks are not checked.
 * @throws Error with the networks whose cards do not permit commercial use, and the remedy.
 */
export async function requireLicences(
  { MODEL_LICENCES, MODEL_LICENCES_CLEARED }: LicenceSettings,
  modelsFolder: string,
  set: ModelSet,
  before?: ModelSet,
): Promise<void> {
  if (MODEL_LICENCES === 'any') return
  const listed = await listModels(modelsFolder, set)
  const cleared = splitList(MODEL_LICENCES_CLEARED)
  const unknown = cleared.filter((name) => listed.every(({ model }) => model !== name))
  if (unknown.length > 0)
    throw new Error(
      `MODEL_LICENCES_CLEARED: ${unknown.join(', ')} is not a network of facegate models list`,
    )
  const earlier = before ? await listModels(modelsFolder, before) : []
  const permitted = new Set([
    ...cleared,
    ...earlier.flatMap(({ use, model }) => (use ? model : [])),
  ])
  const refused = listed.filter(
    ({ use, model, commercialUse }) => use && commercialUse !== 'allowed' && !permitted.has(model),
  )
  if (refused.length === 0) return
  const names = refused.map(({ model, commercialUse }) => `${model} (${commercialUse})`).join(', ')
  throw new Error(
    `MODEL_LICENCES=commercial refuses networks whose cards do not permit commercial use: ${names}. ` +
      'Select others with facegate models use; facegate models list --commercial lists them. ' +
      'Or name the networks whose licences you have cleared in MODEL_LICENCES_CLEARED',
  )
}
