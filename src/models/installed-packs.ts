import { existsSync } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { describeError } from '../lib/observability/describe-error.ts'
import { parseNamedJson } from '../lib/validation/parse-named-json.ts'
import { isNotFound } from './artifact-file.ts'
import type { BuiltinModel } from './builtin/builtin-model.ts'
import { builtinLicence, builtinPack } from './builtin/builtin-pack.ts'
import { catalogue } from './catalogue/catalogue.ts'
import { calibrationFilesOf, isRecognizerDecoding } from './decoding.ts'
import {
  builtinPrefix,
  combineWithBuiltin,
  installedModelsOf,
  type InstalledModel,
  type ModelSet,
} from './model-set.ts'
import {
  type Measurement,
  type PackManifest,
  type PackModel,
  packManifest,
} from './pack-manifest.ts'
import { sha256OfFile } from './sha256.ts'
import { readCohort } from './template/read-cohort.ts'

/** A pack in the folder of models. Its manifest contains every checksum. */
export type InstalledPack = { readonly folder: string; readonly manifest: PackManifest }

/** The manifest of a pack, in the folder of the pack. */
export const manifestFileName = 'pack.json'

/** The folder of the pack with this name, installed or not: `<models>/packs/<name>`. */
export function packFolder(modelsFolder: string, name: string): string {
  return path.join(packsFolder(modelsFolder), name)
}

/** The folder of all installed packs; every pack has a folder in it. */
export function packsFolder(modelsFolder: string): string {
  return path.join(modelsFolder, 'packs')
}

/**
 * Returns all installed packs, sorted by name. Folders whose name begins with a dot are unfinished
 * installations.
 *
 * @throws Error of `readPack` for the first pack that cannot be read.
 */
export async function listPacks(modelsFolder: string): Promise<readonly InstalledPack[]> {
  const folder = packsFolder(modelsFolder)
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isNotFound(error)) return []
    throw error
  })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const packs: InstalledPack[] = []
  for (const name of names.filter((each) => !each.startsWith('.')).toSorted())
    packs.push(await readPack(path.join(folder, name)))
  return packs
}

/**
 * Returns the installed pack with this name; undefined when there is none.
 *
 * @throws Error of `readPack` when it cannot be read.
 */
export async function findPack(modelsFolder: string, name: string) {
  const folder = packFolder(modelsFolder, name)
  return isPackName(name) && existsSync(folder) ? readPack(folder) : undefined
}

/** Whether the text is a valid pack name, and therefore a safe folder name. */
export function isPackName(name: string): boolean {
  return packManifest.shape.name.safeParse(name).success
}

/**
 * Reads the manifest of the pack in `folder`, but not its model files.
 *
 * @throws Error that names the file, and the path in it, when it is missing or not a valid manifest.
 */
export async function readPack(folder: string): Promise<InstalledPack> {
  const filePath = path.join(folder, manifestFileName)
  const text = await readFile(filePath, 'utf8').catch((cause: unknown) => {
    throw new Error(`cannot read the manifest ${filePath}`, { cause })
  })
  return { folder, manifest: parseManifest(text, filePath) }
}

/**
 * Parses and validates the text of a manifest.
 *
 * @param location a file path or URL for the error message.
 * @throws Error that names `location` and the path of each invalid field.
 */
export function parseManifest(text: string, location: string): PackManifest {
  const result = packManifest.safeParse(parseNamedJson(text, location))
  if (result.success) return result.data
  const problems = result.error.issues.map(
    (issue) => `${issue.path.map(String).join('.') || 'the manifest'}: ${issue.message}`,
  )
  throw new Error(`${location} is not a valid pack manifest: ${problems.join('; ')}`)
}

/** Returns the model with this id; undefined when the pack has none. */
export function findInstalledModel(pack: InstalledPack, id: string): InstalledModel | undefined {
  const model = pack.manifest.models.find((each) => each.id === id)
  return model && { folder: pack.folder, model }
}

/** The name of a model on the command line: `builtin`, `pack/id` or `builtin+pack/id`. */
export function modelRefOf(model: 'builtin' | InstalledModel): string {
  if (model === 'builtin') return model
  const ref = `${path.basename(model.folder)}/${model.model.id}`
  return model.withBuiltin ? builtinPrefix + ref : ref
}

/**
 * Checks every file of the model against its checksum, and reads the cohorts of a recognizer.
 *
 * @throws Error that names the missing, altered or invalid file and the remedy.
 */
export async function checkModelFiles(installed: InstalledModel): Promise<void> {
  const { folder, model } = installed
  for (const { file, sha256 } of checksummedFiles(model)) {
    const filePath = path.join(folder, file)
    if (sha256 === null)
      throw new Error(
        `${path.join(folder, manifestFileName)} contains no sha256 for ${file}; ${repairAdvice}`,
      )
    const actual = await sha256OfFile(filePath).catch((cause: unknown) => {
      throw new Error(`cannot read the model ${filePath}; ${repairAdvice}`, { cause })
    })
    if (actual !== sha256)
      throw new Error(
        `the model ${filePath} was altered (sha256 ${actual}, expected ${sha256}); ${repairAdvice}`,
      )
  }
  if (!isRecognizerDecoding(model.decoding)) return
  for (const use of [installed, combineWithBuiltin(installed)])
    await readCohort(use).catch((cause: unknown) => {
      throw new Error(`${describeError(cause)}; ${repairAdvice}`, { cause })
    })
}

const repairAdvice =
  'install the pack again, or return to the built-in models with: facegate models use builtin'

/** The network, and the cohort of a recognizer: the files that determine the outputs of a model. */
function checksummedFiles({ file, sha256, decoding }: PackModel) {
  const checksummed = calibrationFilesOf(decoding).filter((each) => each.sha256 !== null)
  return [{ file, sha256 }, ...checksummed]
}

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
  /** Whether the catalogue contains another network under this name. */
  readonly isOutdated: boolean
  /** The description of its pack. */
  readonly description: string
  /** Information about the licence for a buyer. */
  readonly note?: string | undefined
  readonly measured: readonly Measurement[]
} & Pick<PackModel, 'provenance' | 'notFor'>

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
      packs.flatMap((pack) => pack.manifest.models.map((model) => listInstalled(pack, set, model))),
    )),
    ...catalogue.filter(({ name }) => !names.has(name)).flatMap(listAvailableModels),
  ]
}

async function listBuiltinModel(
  folder: string,
  set: ModelSet,
  entry: BuiltinModel,
): Promise<ListedModel> {
  const { id, version, roles, artifact, provenance, measured, notFor } = entry
  const replaceable = { detector: set.detector, recognizer: set.recognizer, liveness: set.liveness }
  const isUsed = (used: ModelSet['recognizer' | 'liveness']) =>
    used === 'builtin' || ('withBuiltin' in used && used.withBuiltin)
  const isActive = roles.some(
    (role) => !(role in replaceable) || isUsed(replaceable[role as PackModel['role']]),
  )
  const isFormer = roles.includes('recognizer') && set.formerRecognizers.some(isUsed)
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
    isOutdated: false,
    description: 'Built in',
    provenance,
    measured,
    notFor,
  }
}

async function listInstalled(
  { folder, manifest }: InstalledPack,
  set: ModelSet,
  model: PackModel,
): Promise<ListedModel> {
  const isThisModel = (used: InstalledModel) => used.folder === folder && used.model.id === model.id
  const isActive = installedModelsOf({ ...set, formerRecognizers: [] }).some(isThisModel)
  return {
    ...listedFieldsOf(manifest, model),
    model: modelRefOf({ folder, model }),
    state: 'installed',
    use: useOf(isActive, installedModelsOf(set).some(isThisModel)),
    bytes: await fileBytesOrNull(path.join(folder, model.file)),
    isOutdated: isOutdated(manifest.name, model),
  }
}

/** Compares the versions: the author of a pack raises the version when the bytes change. */
function isOutdated(packName: string, { id, version }: PackModel): boolean {
  const published = catalogue.find(({ name }) => name === packName)?.models
  return published?.some((model) => model.id === id && model.version !== version) === true
}

function listAvailableModels(manifest: PackManifest): ListedModel[] {
  return manifest.models.map((model) => ({
    ...listedFieldsOf(manifest, model),
    model: `${manifest.name}/${model.id}`,
    state: 'available',
    use: null,
    bytes: model.source?.bytes ?? null,
    isOutdated: false,
  }))
}

function listedFieldsOf({ description }: PackManifest, model: PackModel) {
  const { version, role, licence, file, sha256, provenance, measured, notFor } = model
  const { name, commercialUse, note } = licence
  const card = { description, note, provenance, measured, notFor }
  return { version, roles: [role], licence: name, commercialUse, file, sha256, ...card }
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
