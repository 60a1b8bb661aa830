import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import {
  checkModelFiles,
  findInstalledModel,
  packFolder,
  readPack,
  modelRefOf,
} from './installed-packs.ts'
import { builtinSet, type InstalledModel, type ModelSet, type PackModel } from './pack-manifest.ts'
import { writeFileAtomic } from './artifact-file.ts'

/**
 * The models that the service is to look with: what `active.json` in the folder of models chooses,
 * the built-in ones where there is no such file. Every chosen file is read whole and compared with
 * its sha256, as the built-in ones are at every start.
 *
 * @throws Error that names the pack, model or file that is missing or altered, and what to do.
 */
export async function readVerifiedActiveSet(modelsFolder: string): Promise<ModelSet> {
  const set = await readActiveSet(modelsFolder)
  for (const model of installedModelsOf(set)) await checkModelFiles(model)
  return set
}

/** `readModelSet` without a look at the model files: for what changes or shows the choice. */
export async function readActiveSet(modelsFolder: string): Promise<ModelSet> {
  const choice = await readActiveSetFile(modelsFolder)
  if (!choice) return builtinSet
  const one = async (ref: string, role: PackModel['role']) =>
    ref === 'builtin' ? ref : findActiveModel(modelsFolder, ref, role)
  const [first, ...others] = choice.liveness === 'builtin' ? [] : choice.liveness
  const all = async (refs: readonly string[]) =>
    Promise.all(refs.map((ref) => findActiveModel(modelsFolder, ref, 'liveness')))
  return {
    detector: await one(choice.detector, 'detector'),
    recognizer: await one(choice.recognizer, 'recognizer'),
    liveness: first
      ? [await findActiveModel(modelsFolder, first, 'liveness'), ...(await all(others))]
      : 'builtin',
    formerRecognizers: await Promise.all(
      choice.formerRecognizers.map((ref) => one(ref, 'recognizer')),
    ),
  }
}

/** Makes `set` the choice for the next start, in one step. Its packs must be installed. */
export async function writeActiveSet(modelsFolder: string, set: ModelSet): Promise<void> {
  const ref = (model: 'builtin' | InstalledModel): string =>
    model === 'builtin' ? model : modelRefOf(model)
  const written: ActiveSetFile = {
    schema: 1,
    detector: ref(set.detector),
    recognizer: ref(set.recognizer),
    liveness: set.liveness === 'builtin' ? set.liveness : set.liveness.map(ref),
    formerRecognizers: set.formerRecognizers.map(ref),
  }
  const text = `${JSON.stringify(activeSetFile.parse(written), null, 2)}\n`
  await mkdir(modelsFolder, { recursive: true })
  await writeFileAtomic(activeSetPath(modelsFolder), Buffer.from(text))
}

/** Every installed model of a set, the former recognizers among them. */
export function installedModelsOf(set: ModelSet): readonly InstalledModel[] {
  const { detector, recognizer, liveness, formerRecognizers } = set
  return [
    detector,
    recognizer,
    ...(liveness === 'builtin' ? [] : liveness),
    ...formerRecognizers,
  ].filter((model) => model !== 'builtin')
}

const modelRef = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}\/[a-z0-9][a-z0-9._-]{0,63}$/u, 'must be pack/model')
const modelRefOrBuiltin = z.union([z.literal('builtin'), modelRef])

/** `active.json`: the choice by names; what they mean is in the manifests of the packs. */
const activeSetFile = z.strictObject({
  schema: z.literal(1),
  detector: modelRefOrBuiltin,
  recognizer: modelRefOrBuiltin,
  liveness: z.union([z.literal('builtin'), z.array(modelRef).min(1).max(8)]),
  formerRecognizers: z.array(modelRefOrBuiltin).max(8),
})
type ActiveSetFile = z.output<typeof activeSetFile>

function activeSetPath(modelsFolder: string): string {
  return path.join(modelsFolder, 'active.json')
}

async function readActiveSetFile(modelsFolder: string): Promise<ActiveSetFile | undefined> {
  const place = activeSetPath(modelsFolder)
  try {
    return activeSetFile.parse(JSON.parse(await readFile(place, 'utf8')))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    const message = `${place} does not say which models to use; remove it, or: facegate models use builtin`
    throw new Error(message, { cause })
  }
}

async function findActiveModel(
  modelsFolder: string,
  ref: string,
  role: PackModel['role'],
): Promise<InstalledModel> {
  const [name = '', id = ''] = ref.split('/')
  const advice = 'or go back to the built-in models with: facegate models use builtin'
  const pack = await readPack(packFolder(modelsFolder, name)).catch((cause: unknown) => {
    const message = `the active ${role} ${ref} is not installed: facegate models install ${name}, ${advice}`
    throw new Error(message, { cause })
  })
  const found = findInstalledModel(pack, id)
  if (found?.model.role !== role)
    throw new Error(
      `the pack ${name} has no ${role} ${id} (active.json wants it): install it again, ${advice}`,
    )
  return found
}
