import path from 'node:path'

import { builtinPack } from '../models/builtin.ts'
import { goldenInput, goldenMismatch } from '../models/golden.ts'
import { installedOf } from '../models/active.ts'
import type { ModelEntry } from '../models/manifest.ts'
import { builtinSet, type ModelSet } from '../models/pack.ts'
import { probe } from './probe.ts'
import { openSession } from './session.ts'

/**
 * Runs every model of the built-in pack once on its fixed input, and every installed one of `set`
 * on a fixed picture, and says which do not answer as they should, one sentence each; empty when all
 * do. One after another, so that no two are in memory at once.
 */
export async function verifyModels(
  modelsFolder: string,
  set: ModelSet = builtinSet,
): Promise<string[]> {
  const mismatches: string[] = []
  for (const entry of Object.values<ModelEntry>(builtinPack.models)) {
    const mismatch = await verifyModel(modelsFolder, entry)
    if (mismatch) mismatches.push(mismatch)
  }
  for (const installed of installedOf(set)) {
    const fault = await probe(installed)
    if (fault) mismatches.push(`${path.join(installed.folder, installed.model.file)}: ${fault}`)
  }
  return mismatches
}

async function verifyModel(folder: string, entry: ModelEntry): Promise<string | undefined> {
  const session = await openSession(folder, entry)
  try {
    return goldenMismatch(entry, await session.run(goldenInput(entry)))
  } finally {
    await session.close()
  }
}
