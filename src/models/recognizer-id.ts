import type { ModelSet } from './pack.ts'
import { readTemplateModel } from './template.ts'

/** The `modelId` of the templates that a recognizer makes: "id@version". */
export async function recognizerId(recognizer: ModelSet['recognizer']): Promise<string> {
  if (recognizer === 'builtin') return (await readTemplateModel()).modelId
  const { id, version } = recognizer.model
  return `${id}@${version}`
}
