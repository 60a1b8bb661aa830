import { stat } from 'node:fs/promises'
import path from 'node:path'
import { builtinLicence, builtinPack } from './builtin/builtin-pack.ts'
import { catalogue } from './catalogue/catalogue.ts'
import { listPacks, modelRefOf } from './installed-packs.ts'
import type { BuiltinModel } from './builtin/builtin-model.ts'
import type { PackManifest, PackModel } from './pack-manifest.ts'
import type { ModelSet } from './model-set.ts'

/** A model in the list: built in, installed, or available in the catalogue. */
export type ListedModel = {
  /** `pack/model`. */
  readonly model: string
  readonly version: string
  readonly roles: readonly string[]
  readonly state: 'built-in' | 'installed' | 'available'
  /** Whether the set uses it, or keeps it as a former recognizer for older templates. */
  readonly use: 'active' | 'former' | null
  readonly licence: string
  readonly commercialUse: PackModel['licence']['commercialUse']
  /** The ONNX file and its checksum; null when unknown before the installation. */
  readonly file: string
  readonly sha256: string | null
  /** Size of its file, or of the download; null when unknown. */
  readonly bytes: number | null
}

/**
 * Lists all models: the built-in ones, then the installed ones, then the rest of the catalogue.
 *
 * @throws Error that names the pack that cannot be read.
 */
export async function listModels(modelsFolder: string, set: ModelSet): Promise<ListedModel[]> {
  const packs = await listPacks(modelsFolder)
  const names = new Set(packs.map(({ manifest }) => manifest.name))
  const builtin = Object.values<BuiltinModel>(builtinPack.models)
  return [
    ...(await Promise.all(builtin.map((entry) => listBuiltinModel(modelsFolder, set, entry)))),
    ...(await Promise.all(
      packs.flatMap(({ folder, manifest }) =>
        manifest.models.map((model) => listInstalledModel(folder, set, model)),
      ),
    )),
    ...catalogue.filter(({ name }) => !names.has(name)).flatMap(listAvailableModels),
  ]
}

async function listBuiltinModel(
  folder: string,
  set: ModelSet,
  entry: BuiltinModel,
): Promise<ListedModel> {
  const { id, version, roles, artifact } = entry
  const replaceable = { detector: set.detector, recognizer: set.recognizer, liveness: set.liveness }
  const isActive = roles.some(
    (role) => !(role in replaceable) || replaceable[role as PackModel['role']] === 'builtin',
  )
  const isFormer = roles.includes('recognizer') && set.formerRecognizers.includes('builtin')
  return {
    model: `builtin/${id}`,
    version,
    roles,
    state: 'built-in',
    use: useOf(isActive, isFormer),
    licence: builtinLicence(entry),
    // The authors state little about the permitted use of the weights.
    commercialUse: 'unclear',
    ...artifact,
    bytes: await fileBytesOrNull(path.join(folder, artifact.file)),
  }
}

async function listInstalledModel(
  folder: string,
  set: ModelSet,
  model: PackModel,
): Promise<ListedModel> {
  const ref = modelRefOf({ folder, model })
  const { detector, recognizer, liveness } = set
  const active = [detector, recognizer, ...(liveness === 'builtin' ? [] : liveness)]
  const isThisModel = (used: ModelSet['detector']): boolean =>
    used !== 'builtin' && modelRefOf(used) === ref
  return {
    ...listedFieldsOf(model),
    model: ref,
    state: 'installed',
    use: useOf(active.some(isThisModel), set.formerRecognizers.some(isThisModel)),
    bytes: await fileBytesOrNull(path.join(folder, model.file)),
  }
}

function listAvailableModels({ name, models }: PackManifest): ListedModel[] {
  return models.map((model) => ({
    ...listedFieldsOf(model),
    model: `${name}/${model.id}`,
    state: 'available',
    use: null,
    bytes: model.source?.bytes ?? null,
  }))
}

function listedFieldsOf({ version, role, licence, file, sha256 }: PackModel) {
  const { name, commercialUse } = licence
  return { version, roles: [role], licence: name, commercialUse, file, sha256 }
}

function useOf(isActive: boolean, isFormer: boolean): ListedModel['use'] {
  if (isActive) return 'active'
  return isFormer ? 'former' : null
}

async function fileBytesOrNull(filePath: string): Promise<number | null> {
  return stat(filePath).then(
    ({ size }) => size,
    () => null,
  )
}
