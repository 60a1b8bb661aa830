import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { isNotFound } from './artifact-file.ts'
import { calibrationFilesOf } from './decoding.ts'
import type { InstalledModel } from './model-set.ts'
import { packManifest, type PackManifest, type PackModel } from './pack-manifest.ts'
import { sha256OfFile } from './sha256.ts'

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
export async function findPack(
  modelsFolder: string,
  name: string,
): Promise<InstalledPack | undefined> {
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
  const result = packManifest.safeParse(parseJson(text, location))
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

/** The name of an installed model on the command line: `pack/id`. */
export function modelRefOf({ folder, model }: InstalledModel): string {
  return `${path.basename(folder)}/${model.id}`
}

/**
 * Checks every file of the model against its checksum.
 *
 * @throws Error that names the missing or altered file and the remedy.
 */
export async function checkModelFiles({ folder, model }: InstalledModel): Promise<void> {
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
}

const repairAdvice =
  'install the pack again, or return to the built-in models with: facegate models use builtin'

/** The network, and the cohort of a recognizer: the files that determine the outputs of a model. */
function checksummedFiles({ file, sha256, decoding }: PackModel) {
  const checksummed = calibrationFilesOf(decoding).filter((each) => each.sha256 !== null)
  return [{ file, sha256 }, ...checksummed]
}

function parseJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${location} is not JSON`, { cause })
  }
}
