import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { isNotFound, writeFileAtomic } from './artifact-file.ts'
import {
  checkModelFiles,
  findInstalledModel,
  modelRefOf,
  packFolder,
  readPack,
} from './installed-packs.ts'
import {
  builtinPrefix,
  builtinSet,
  installedModelsOf,
  parseModelRef,
  type ModelSet,
} from './model-set.ts'
import type { PackModel } from './pack-manifest.ts'

/**
 * Reads the model set that `active.json` in the folder of models selects; the built-in models when
 * there is no such file. Reads every selected file completely and checks its SHA-256, as every start
 * does for the built-in files.
 *
 * @throws Error that names the missing or altered pack, model or file, and the remedy.
 */
export async function readVerifiedActiveSet(modelsFolder: string): Promise<ModelSet> {
  const set = await readActiveSet(modelsFolder)
  for (const model of installedModelsOf(set)) await checkModelFiles(model)
  return set
}

/** `readVerifiedActiveSet` without the file checks, for commands that change or list the selection. */
export async function readActiveSet(modelsFolder: string): Promise<ModelSet> {
  const file = await readActiveSetFile(modelsFolder)
  if (!file) return builtinSet
  const modelOf = async (ref: string, role: PackModel['role']) =>
    ref === 'builtin' ? ref : findActiveModel(modelsFolder, ref, role)
  const livenessRefs = file.liveness === 'builtin' ? [] : file.liveness
  const [first, ...others] = await Promise.all(
    livenessRefs.map((ref) => findActiveModel(modelsFolder, ref, 'liveness')),
  )
  return {
    detector: await modelOf(file.detector, 'detector'),
    recognizer: await modelOf(file.recognizer, 'recognizer'),
    liveness: first ? [first, ...others] : 'builtin',
    formerRecognizers: await Promise.all(
      file.formerRecognizers.map((ref) => modelOf(ref, 'recognizer')),
    ),
  }
}

/** Writes `set` to `active.json` atomically; the next start uses it. Its packs must be installed. */
export async function writeActiveSet(modelsFolder: string, set: ModelSet): Promise<void> {
  const content: ActiveSetFile = {
    schema: 1,
    detector: modelRefOf(set.detector),
    recognizer: modelRefOf(set.recognizer),
    liveness: set.liveness === 'builtin' ? set.liveness : set.liveness.map(modelRefOf),
    formerRecognizers: set.formerRecognizers.map(modelRefOf),
  }
  const text = `${JSON.stringify(activeSetFile.parse(content), null, 2)}\n`
  await mkdir(modelsFolder, { recursive: true })
  await writeFileAtomic(activeSetPath(modelsFolder), Buffer.from(text))
}

const modelRef = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}\/[a-z0-9][a-z0-9._-]{0,63}$/u, 'must be pack/model')
const modelRefOrBuiltin = z.union([z.literal('builtin'), modelRef])
const recognizerRef = z.union([modelRefOrBuiltin, z.templateLiteral([builtinPrefix, modelRef])])

/** `active.json`: the selection by name. The manifests of the packs contain everything else. */
const activeSetFile = z.strictObject({
  schema: z.literal(1),
  detector: modelRefOrBuiltin,
  recognizer: recognizerRef,
  liveness: z.union([z.literal('builtin'), z.array(modelRef).min(1).max(8)]),
  formerRecognizers: z.array(recognizerRef).max(8),
})
type ActiveSetFile = z.output<typeof activeSetFile>

function activeSetPath(modelsFolder: string): string {
  return path.join(modelsFolder, 'active.json')
}

async function readActiveSetFile(modelsFolder: string): Promise<ActiveSetFile | undefined> {
  const filePath = activeSetPath(modelsFolder)
  try {
    return activeSetFile.parse(JSON.parse(await readFile(filePath, 'utf8')))
  } catch (cause) {
    if (isNotFound(cause)) return undefined
    const message = `${filePath} is not a valid model selection; delete it, or run: facegate models use builtin`
    throw new Error(message, { cause })
  }
}

async function findActiveModel(modelsFolder: string, ref: string, role: PackModel['role']) {
  const { name, toModel } = parseModelRef(ref)
  const [packName = '', id = ''] = name.split('/')
  const advice = 'or return to the built-in models with: facegate models use builtin'
  const pack = await readPack(packFolder(modelsFolder, packName)).catch((cause: unknown) => {
    const message = `the active ${role} ${ref} is not installed: facegate models install ${packName}, ${advice}`
    throw new Error(message, { cause })
  })
  const model = findInstalledModel(pack, id)
  if (model?.model.role !== role)
    throw new Error(
      `the pack ${packName} has no ${role} ${id}, which active.json selects: install the pack again, ${advice}`,
    )
  return toModel(model)
}
