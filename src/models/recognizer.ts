import type { ModelSet } from './pack-manifest.ts'
import { readTemplateModel } from './template/template-model.ts'

/** The `modelId` of the templates that a recognizer makes: "id@version". */
export async function recognizerModelId(recognizer: ModelSet['recognizer']): Promise<string> {
  if (recognizer === 'builtin') return (await readTemplateModel()).modelId
  const { id, version } = recognizer.model
  return `${id}@${version}`
}
