import type { Recognizer } from './recognizer.ts'
import type { Template } from './template.ts'

/**
 * The factor of the scores of the installed recognizer. Values from 3 to 5 are equally good (`node
 * eval/recognizers/measure-sum.ts`). Another factor would create other templates.
 */
const installedWeight = 4
/** Scores contain squared distances. */
const installedScale = Math.sqrt(installedWeight)

/** Returns a recognizer whose scores are sums of the scores of both. */
export function combineRecognizers(builtin: Recognizer, installed: Recognizer): Recognizer {
  const modelId = `${builtin.modelId}+${installed.modelId}`
  const { startTemplate } = builtin
  return {
    modelId,
    async createTemplate(...face) {
      const first = await builtin.createTemplate(...face)
      return combineTemplates(modelId, first, await installed.createTemplate(...face))
    },
    ...(startTemplate && {
      async startTemplate(...face) {
        const { quickTemplate, complete } = await startTemplate(...face)
        return {
          quickTemplate,
          complete: async () =>
            combineTemplates(modelId, await complete(), await installed.createTemplate(...face)),
        }
      },
    }),
  }
}

/**
 * Returns a template whose score against another one is the score of the built-in templates plus
 * `installedWeight` times that of the installed ones: the vectors one after the other, the second one
 * scaled by the square root of the factor.
 */
export function combineTemplates(
  modelId: string,
  builtin: Template,
  installed: Template,
): Template {
  const scaled = installed.vector.map((value) => installedScale * value)
  const vector = Float32Array.from([...builtin.vector, ...scaled])
  return { modelId, vector, density: builtin.density + installedWeight * installed.density }
}

/**
 * Splits a template of `combineTemplates` whose installed part had no density.
 *
 * @param installedDimensions undefined: the template is not combined.
 */
export function splitTemplate(
  { vector, ...template }: Template,
  installedDimensions: number | undefined,
): { readonly builtin?: Template; readonly installed: Float32Array } {
  if (installedDimensions === undefined) return { installed: vector }
  const split = vector.length - installedDimensions
  return {
    builtin: { ...template, vector: vector.subarray(0, split) },
    installed: vector.subarray(split).map((value) => value / installedScale),
  }
}
