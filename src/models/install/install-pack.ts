import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { installedModelsOf, readActiveSet } from '../active-set.ts'
import {
  findPack,
  manifestFileName,
  packFolder,
  packsFolder,
  readPack,
  sha256OfFile,
} from '../installed-packs.ts'
import type { InstalledPack } from '../installed-packs.ts'
import {
  modelFilesOf,
  type InstalledModel,
  type PackManifest,
  type PackModel,
} from '../pack-manifest.ts'
import { convertPytorch } from '../convert/pytorch/convert-pytorch.ts'
import { carryCalibration } from './carry-calibration.ts'
import { fetchFile, type FetchOptions } from './fetch-file.ts'
import { requiredFiles, weightsFileOf, type RequiredFile } from './required-files.ts'
import type { PackSource } from './pack-source.ts'

export type InstallOptions = FetchOptions & {
  /** Loads a model and runs it; what is wrong with it, if anything. */
  readonly smokeTest: (model: InstalledModel) => Promise<string | undefined>
}

export type InstallResult = {
  readonly pack: InstalledPack
  /** The files whose checksum the manifest did not know: it is now the one of what came. */
  readonly pinnedFiles: readonly string[]
}

/**
 * Fetches, checks and tries every file of a pack, and only then puts the pack in its place, in one
 * step. What an installation that was cut off leaves is a hidden folder, which the next one of the
 * same pack goes on with.
 *
 * @throws Error that says what is wrong; then nothing has changed but parts to go on with.
 */
export async function installPack(
  modelsFolder: string,
  offer: PackSource,
  options: InstallOptions,
): Promise<InstallResult> {
  const { manifest } = offer
  const staging = path.join(packsFolder(modelsFolder), `.unfinished-${manifest.name}`)
  await mkdir(staging, { recursive: true })
  const needed = requiredFiles(offer)
  await removeOtherFiles(staging, needed)
  const sha256s = new Map<string, string>()
  for (const file of needed) sha256s.set(file.name, await fetchFile(staging, file, options))

  const before = await findPack(modelsFolder, manifest.name).catch(() => undefined)
  const models: PackModel[] = []
  for (const model of manifest.models) {
    const weights = weightsFileOf(offer, model)
    const finished = await finishModel(staging, model, {
      ...weights,
      sha256: sha256s.get(weights.name) ?? null,
    })
    models.push(await carryCalibration(staging, finished, before))
  }
  for (const model of models) await assertRuns({ folder: staging, model }, options.smokeTest)

  const finished: PackManifest = { ...manifest, models }
  await rejectChangeOfActive(modelsFolder, finished)
  await writeFile(path.join(staging, manifestFileName), `${JSON.stringify(finished, null, 2)}\n`)
  await removeOtherFiles(
    staging,
    [...models.flatMap(modelFilesOf), manifestFileName].map((name) => ({ name })),
  )
  const folder = packFolder(modelsFolder, manifest.name)
  await replaceFolder(staging, folder)
  const pinned = manifest.models.filter((model) => (model.source ?? model).sha256 === null)
  return { pack: await readPack(folder), pinnedFiles: pinned.map(({ file }) => file) }
}

/** Makes the ONNX file of a model of what was fetched. @returns the model with its checksums. */
async function finishModel(
  staging: string,
  model: PackModel,
  fetched: Pick<RequiredFile, 'name' | 'sourceName' | 'sha256'>,
): Promise<PackModel> {
  const place = path.join(staging, model.file)
  const { source } = model
  if (source?.format.kind === 'pytorch') {
    const weights = await readFile(path.join(staging, fetched.name))
    await writeFile(place, convertPytorch(source.format.architecture, weights, fetched.sourceName))
  }
  const sha256 = await sha256OfFile(place)
  if (model.sha256 !== null && sha256 !== model.sha256)
    throw new Error(
      `${model.file} is not what the manifest says (sha256 ${sha256}, expected ${model.sha256})`,
    )
  return { ...model, sha256, ...(source && { source: { ...source, sha256: fetched.sha256 } }) }
}

async function assertRuns(
  model: InstalledModel,
  probe: InstallOptions['smokeTest'],
): Promise<void> {
  const fault = await probe(model)
  if (fault !== undefined) throw new Error(`${model.model.id} does not work: ${fault}`)
}

/**
 * A running server loads its models again whenever it replaces a worker: under the name of a pack
 * that it uses only the same bytes may lie.
 */
async function rejectChangeOfActive(modelsFolder: string, pack: PackManifest): Promise<void> {
  // A choice that cannot be read keeps the service from starting; mending it may take this pack.
  const set = await readActiveSet(modelsFolder).catch(() => undefined)
  const folder = packFolder(modelsFolder, pack.name)
  for (const used of set ? installedModelsOf(set) : []) {
    const same = pack.models.find(({ id }) => id === used.model.id)
    if (used.folder === folder && !(same && isSameNetwork(same, used.model)))
      throw new Error(
        `${pack.name} is in use and this would change its ${used.model.id}; ` +
          'facegate models use builtin first, or give the pack another name',
      )
  }
}

/** Another cohort makes other templates, as other weights do. */
function isSameNetwork(a: PackModel, b: PackModel): boolean {
  const cohortOf = ({ decoding }: PackModel): string | undefined =>
    decoding.kind === 'arcface' ? decoding.cohort?.sha256 : undefined
  return a.version === b.version && a.sha256 === b.sha256 && cohortOf(a) === cohortOf(b)
}

/** Between the two renames a crash would leave neither: the next installation mends that. */
async function replaceFolder(from: string, to: string): Promise<void> {
  const old = path.join(path.dirname(to), `.old-${path.basename(to)}`)
  await rm(old, { recursive: true, force: true })
  if (existsSync(to)) await rename(to, old)
  await rename(from, to)
  await rm(old, { recursive: true, force: true })
}

/** Keeps the named files and their parts alone. */
async function removeOtherFiles(
  folder: string,
  keep: readonly { readonly name: string }[],
): Promise<void> {
  const names = new Set(keep.flatMap(({ name }) => [name, `${name}.part`, `${name}.part.json`]))
  for (const name of await readdir(folder))
    if (!names.has(name)) await rm(path.join(folder, name), { recursive: true })
}
