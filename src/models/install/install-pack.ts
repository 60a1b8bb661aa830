import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, writeFile, copyFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readActiveSet } from '../active-set.ts'
import { convertPytorch } from '../convert/pytorch/convert-pytorch.ts'
import { isRecognizerDecoding, calibrationFilesOf } from '../decoding.ts'
import {
  findPack,
  manifestFileName,
  packFolder,
  packsFolder,
  readPack,
  type InstalledPack,
} from '../installed-packs.ts'
import { combineWithBuiltin, installedModelsOf, type InstalledModel } from '../model-set.ts'
import { modelFilesOf, type PackManifest, type PackModel } from '../pack-manifest.ts'
import { sha256OfFile } from '../sha256.ts'
import { fetchFile, type FetchOptions } from './fetch-file.ts'
import type { PackSource } from './pack-source.ts'
import { requiredFiles, weightsFileOf, type RequiredFile } from './required-files.ts'

type InstallOptions = FetchOptions & {
  /** Loads a model and runs it once. Returns the problem, if there is one. */
  readonly smokeTest: (model: InstalledModel) => Promise<string | undefined>
}

/**
 * Fetches, checks and smoke-tests every file of a pack, and then moves the pack to its folder in one
 * step. An interrupted installation leaves a hidden folder; the next installation of the pack resumes
 * from it.
 *
 * @throws Error that states the problem. In this case nothing is installed; partial downloads remain.
 */
export async function installPack(
  modelsFolder: string,
  packSource: PackSource,
  options: InstallOptions,
) {
  const { manifest } = packSource
  const staging = path.join(packsFolder(modelsFolder), `.unfinished-${manifest.name}`)
  await mkdir(staging, { recursive: true })
  const required = requiredFiles(packSource)
  await removeOtherFiles(staging, required)
  const sha256s = new Map<string, string>()
  for (const file of required) sha256s.set(file.name, await fetchFile(staging, file, options))

  const previousPack = await findPack(modelsFolder, manifest.name).catch(() => undefined)
  const models: PackModel[] = []
  for (const model of manifest.models) {
    const weights = weightsFileOf(packSource, model)
    const sha256 = sha256s.get(weights.name) ?? null
    const finished = await finishModel(staging, model, { ...weights, sha256 })
    models.push(await carryCalibration(staging, finished, previousPack))
  }
  for (const model of models) {
    const problem = await options.smokeTest({ folder: staging, model })
    if (problem !== undefined) throw new Error(`${model.id} does not work: ${problem}`)
  }

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
  return {
    pack: await readPack(folder),
    /** The files without a checksum in the manifest. The checksum of the fetched file is now stored. */
    pinnedFiles: pinned.map(({ file }) => file),
  }
}

/** Converts the fetched weights to ONNX if needed. @returns the model with its checksums. */
async function finishModel(
  staging: string,
  model: PackModel,
  fetched: Pick<RequiredFile, 'name' | 'sourceName' | 'sha256'>,
): Promise<PackModel> {
  const filePath = path.join(staging, model.file)
  const { source } = model
  if (source?.format.kind === 'pytorch') {
    const weights = await readFile(path.join(staging, fetched.name))
    const onnx = convertPytorch(source.format.architecture, weights, fetched.sourceName)
    await writeFile(filePath, onnx)
  }
  const sha256 = await sha256OfFile(filePath)
  if (model.sha256 !== null && sha256 !== model.sha256)
    throw new Error(
      `${model.file} does not match the checksum in the manifest (sha256 ${sha256}, expected ${model.sha256})`,
    )
  return { ...model, sha256, ...(source && { source: { ...source, sha256: fetched.sha256 } }) }
}

/**
 * Rejects another network for a model that is in use: stored templates need the present one, and a
 * running server loads its models again when it replaces a worker process.
 */
async function rejectChangeOfActive(modelsFolder: string, pack: PackManifest): Promise<void> {
  // An unreadable selection stops the service from starting, and this pack may be the repair.
  const set = await readActiveSet(modelsFolder).catch(() => undefined)
  const folder = packFolder(modelsFolder, pack.name)
  for (const used of set ? installedModelsOf(set) : []) {
    const same = pack.models.find(({ id }) => id === used.model.id)
    if (used.folder === folder && !(same && isSameModel({ folder, model: same }, used)))
      throw new Error(
        `${pack.name} is in use and this would change its ${used.model.id}: ` +
          'give the pack another name and the model another version',
      )
  }
}

/** Compares the network and the cohort: another cohort creates other templates, as other weights do. */
function isSameModel(offered: InstalledModel, used: InstalledModel): boolean {
  const cohortOf = ({ decoding }: PackModel) =>
    isRecognizerDecoding(decoding) && [decoding.cohort?.sha256, decoding.cohort?.neighbours]
  const { model } = used.withBuiltin ? combineWithBuiltin(offered) : offered
  return (
    isSameNetwork(model, used.model) && isDeepStrictEqual(cohortOf(model), cohortOf(used.model))
  )
}

/** Compares all that determines the outputs of a network: its bytes, its input and their decoding. */
function isSameNetwork(a: PackModel, b: PackModel): boolean {
  const networkOf = ({ id, version, sha256, input, decoding }: PackModel) => {
    const files = { cohort: null, calibration: null, withBuiltin: null }
    return { id, version, sha256, input, decoding: { ...decoding, ...files } }
  }
  return isDeepStrictEqual(networkOf(a), networkOf(b))
}

/** A crash between the two renames leaves no pack; the next installation repairs this. */
async function replaceFolder(from: string, to: string): Promise<void> {
  const old = path.join(path.dirname(to), `.old-${path.basename(to)}`)
  await rm(old, { recursive: true, force: true })
  if (existsSync(to)) await rename(to, old)
  await rename(from, to)
  await rm(old, { recursive: true, force: true })
}

/** Deletes everything except the named files and their partial downloads. */
async function removeOtherFiles(folder: string, keep: readonly { readonly name: string }[]) {
  const names = new Set(keep.flatMap(({ name }) => [name, `${name}.part`, `${name}.part.json`]))
  for (const name of await readdir(folder))
    if (!names.has(name)) await rm(path.join(folder, name), { recursive: true })
}

/**
 * Copies the cohorts and the similarity tables that a user created for an installed recognizer, alone
 * or together with the built-in one, when the same network is installed again from a manifest without
 * them.
 *
 * @returns the complete model; its files are in `staging`.
 */
async function carryCalibration(
  staging: string,
  model: PackModel,
  previousPack: InstalledPack | undefined,
): Promise<PackModel> {
  const previous = previousPack?.manifest.models.find((each) => isSameNetwork(each, model))
  if (!previousPack || !previous || !isRecognizerDecoding(previous.decoding)) return model
  if (!isRecognizerDecoding(model.decoding)) return model
  const { cohort, calibration, withBuiltin } = previous.decoding
  const decoding = {
    ...(withBuiltin && { withBuiltin }),
    ...model.decoding,
    ...(calibration !== undefined &&
      model.decoding.calibration === undefined && { cohort, calibration }),
  }
  for (const { file } of calibrationFilesOf(decoding))
    if (!existsSync(path.join(staging, file)))
      await copyFile(path.join(previousPack.folder, file), path.join(staging, file))
  return { ...model, decoding }
}
