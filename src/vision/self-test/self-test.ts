import path from 'node:path'

import { installedModelsOf } from '../../models/model-set.ts'
import type { BuiltinModel, Golden } from '../../models/builtin/builtin-model.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { goldenInput, goldenMismatch } from '../../models/builtin/golden.ts'
import { readCopyReport } from '../optimized/copy-report.ts'
import type { PipelineOptions } from '../pipeline.ts'
import { openBuiltinModel } from '../session.ts'
import { smokeTest } from './smoke-test.ts'

/** Optimized copies are tested where they exist. */
export type SelfTestOptions = Pick<PipelineOptions, 'modelsFolder' | 'optimizedFolder' | 'modelSet'>

/**
 * Runs every model of the built-in pack and every installed model of `modelSet` once on a fixed
 * input. Models run one after another, so that only one of them is in memory.
 *
 * @returns one sentence per wrong result; empty if all results are correct.
 */
export async function selfTestModels({
  modelsFolder,
  optimizedFolder,
  modelSet,
}: SelfTestOptions): Promise<string[]> {
  const mismatches: string[] = []
  for (const model of Object.values<BuiltinModel>(builtinPack.models)) {
    const mismatch = await selfTestModel(model, modelsFolder, optimizedFolder)
    if (mismatch) mismatches.push(mismatch)
  }
  for (const installed of installedModelsOf(modelSet)) {
    const fault = await smokeTest(installed, optimizedFolder)
    if (fault) mismatches.push(`${path.join(installed.folder, installed.model.file)}: ${fault}`)
  }
  return mismatches
}

async function selfTestModel(
  model: BuiltinModel,
  folder: string,
  optimizedFolder: string | undefined,
): Promise<string | undefined> {
  const session = await openBuiltinModel(folder, model, optimizedFolder)
  try {
    const golden = await goldenOf(model, optimizedFolder)
    return goldenMismatch({ ...model, golden }, await session.run(goldenInput(model)))
  } finally {
    await session.close()
  }
}

/** The expected outputs of the version of a network that `openBuiltinModel` loads. */
async function goldenOf(
  { artifact, golden, int8 }: BuiltinModel,
  optimizedFolder: string | undefined,
): Promise<Golden> {
  if (!int8 || optimizedFolder === undefined) return golden
  const report = await readCopyReport(optimizedFolder, artifact.sha256)
  return report?.precision === 'int8' ? int8.golden : golden
}
