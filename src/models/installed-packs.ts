import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import {
  packManifest,
  type InstalledModel,
  type PackManifest,
  type PackModel,
} from './pack-manifest.ts'

/** A pack that lies in the folder of models; every checksum of its manifest is known. */
export type InstalledPack = { readonly folder: string; readonly manifest: PackManifest }

/** The manifest of a pack, in the pack's folder. */
export const manifestFileName = 'pack.json'

/** Where the pack of this name lies or would lie: `<models>/packs/<name>`. */
export function packFolder(modelsFolder: string, name: string): string {
  return path.join(packsFolder(modelsFolder), name)
}

/** Where all installed packs lie, one folder each. */
export function packsFolder(modelsFolder: string): string {
  return path.join(modelsFolder, 'packs')
}

/**
 * All installed packs by name. Folders whose name begins with a dot are unfinished installations.
 *
 * @throws Error of `readPack` for the first pack that cannot be read.
 */
export async function listPacks(modelsFolder: string): Promise<readonly InstalledPack[]> {
  const folder = packsFolder(modelsFolder)
  const entries = await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing)
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const packs: InstalledPack[] = []
  for (const name of names.filter((each) => !each.startsWith('.')).toSorted())
    packs.push(await readPack(path.join(folder, name)))
  return packs
}

/**
 * The installed pack of this name; undefined when there is none.
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

/** Whether this can be the name of a pack, and so of a folder of its own. */
export function isPackName(name: string): boolean {
  return packManifest.shape.name.safeParse(name).success
}

/**
 * Reads the manifest of the pack in `folder`; its files are not looked at.
 *
 * @throws Error that names the file, and the path in it, when it is missing or not a manifest.
 */
export async function readPack(folder: string): Promise<InstalledPack> {
  const place = path.join(folder, manifestFileName)
  const text = await readFile(place, 'utf8').catch((cause: unknown) => {
    throw new Error(`cannot read the manifest ${place}`, { cause })
  })
  return { folder, manifest: parseManifest(text, place) }
}

/**
 * The manifest that `text` holds.
 *
 * @throws Error that names `place` and the path of each fault in it.
 */
export function parseManifest(text: string, place: string): PackManifest {
  const result = packManifest.safeParse(parseJson(text, place))
  if (result.success) return result.data
  const faults = result.error.issues.map(
    ({ path: at, message }) => `${at.map(String).join('.') || 'the whole'}: ${message}`,
  )
  throw new Error(`${place} is not the manifest of a pack: ${faults.join('; ')}`)
}

/** The model of this id, as the service is to load it; undefined when the pack has none. */
export function findInstalledModel(pack: InstalledPack, id: string): InstalledModel | undefined {
  const model = pack.manifest.models.find((each) => each.id === id)
  return model && { folder: pack.folder, model }
}

/** How a user names an installed model: `pack/id`. */
export function modelRefOf({ folder, model }: InstalledModel): string {
  return `${path.basename(folder)}/${model.id}`
}

/**
 * @throws Error that says what is wrong with a file of the model and what to do, when it is missing or
 * not the one that was installed.
 */
export async function checkModelFiles({ folder, model }: InstalledModel): Promise<void> {
  for (const { file, sha256 } of checksummedFiles(model)) {
    const place = path.join(folder, file)
    if (sha256 === null)
      throw new Error(
        `${path.join(folder, manifestFileName)} gives no sha256 of ${file}; ${repairAdvice}`,
      )
    const found = await sha256OfFile(place).catch((cause: unknown) => {
      throw new Error(`cannot read the model ${place}; ${repairAdvice}`, { cause })
    })
    if (found !== sha256)
      throw new Error(
        `the model ${place} was altered (sha256 ${found}, expected ${sha256}); ${repairAdvice}`,
      )
  }
}

const repairAdvice =
  'install the pack again, or go back to the built-in models with: facegate models use builtin'

/** The files of a model whose bytes decide what it answers. */
function checksummedFiles({ file, sha256, decoding }: PackModel) {
  const cohort = decoding.kind === 'arcface' ? decoding.cohort : undefined
  return [{ file, sha256 }, ...(cohort ? [cohort] : [])]
}

/** In pieces: a file of weights may be larger than one would like to hold. */
export async function sha256OfFile(place: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(place)) hash.update(piece as Uint8Array)
  return hash.digest('hex')
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${place} is not JSON`, { cause })
  }
}

function emptyIfMissing(error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
  throw error
}
