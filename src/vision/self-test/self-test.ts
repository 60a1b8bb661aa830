import path from 'node:path'

import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { goldenInput, goldenMismatch } from '../../models/builtin/golden.ts'
import type { BuiltinModel } from '../../models/builtin/builtin-model.ts'
import { installedModelsOf, builtinSet, type ModelSet } from '../../models/model-set.ts'
import { smokeTest } from './smoke-test.ts'
import { openBuiltinModel } from '../session.ts'

/**
 * Runs every model of the built-in pack once on its fixed input, and every installed one of `set`
 * on a fixed picture, and says which do not answer as they should, one sentence each; empty when all
 * do. One after another, so that no two are in memory at once.
 */
export async function selfTestModels(
  modelsFolder: string,
  set: ModelSet = builtinSet,
): Promise<string[]> {
  const mismatches: string[] = []
  for (const entry of Object.values<BuiltinModel>(builtinPack.models)) {
    const mismatch = await selfTestModel(modelsFolder, entry)
    if (mismatch) mismatches.push(mismatch)
  }
  for (const installed of installedModelsOf(set)) {
    const fault = await smokeTest(installed)
    if (fault) mismatches.push(`${path.join(installed.folder, installed.model.file)}: ${fault}`)
  }
  return mismatches
}

async function selfTestModel(folder: string, entry: BuiltinModel): Promise<string | undefined> {
  const session = await openBuiltinModel(folder, entry)
  try {
    return goldenMismatch(entry, await session.run(goldenInput(entry)))
  } finally {
    await session.close()
  }
}
