import type { ModelSummary } from '../../console/pages/system/server-status.ts'
import type { ModelInventory } from '../../console/services.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { listModels, type ListedModel } from '../../models/list-models.ts'
import type { ModelSet } from '../../models/model-set.ts'

type ModelSource = { readonly modelsFolder: string; readonly modelSet: ModelSet }

/** The installed models, and the active ones among them, with the calibration in use. */
export async function readModels(
  source: ModelSource & { readonly calibration: Calibration },
): Promise<ModelInventory> {
  return { ...(await listModelSummaries(source)), calibration: source.calibration }
}

/** The installed models, and the active ones among them. */
export async function listModelSummaries({
  modelsFolder,
  modelSet,
}: ModelSource): Promise<Pick<ModelInventory, 'active' | 'installed'>> {
  const listed = await listModels(modelsFolder, modelSet)
  const present = listed.filter(({ state }) => state !== 'available')
  return {
    active: present.filter(({ use }) => use === 'active').map(toModelSummary),
    installed: present.filter(({ state }) => state === 'installed').map(toModelSummary),
  }
}

function toModelSummary({
  model,
  roles,
  state,
  sha256,
  bytes,
  ...rest
}: ListedModel): ModelSummary {
  const { version, licence, commercialUse, file } = rest
  return {
    role: roles.join(', '),
    id: model,
    version,
    licence,
    commercialUse,
    sha256: sha256 ?? '',
    file,
    bytes: bytes ?? 0,
    builtIn: state === 'built-in',
  }
}
