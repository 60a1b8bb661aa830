import type { ImageCount } from './images/image-count.ts'
import { requiredText, type ParsedParams } from './form/parse-params.ts'

type RunFacts = {
  readonly mayCall: boolean
  readonly problems: ParsedParams['problems']
  readonly imageCount: ImageCount
  readonly imagesChosen: number
}

/** Returns what prevents a call, with the remedy; empty if it can run. */
export function runBlockers({ mayCall, problems, imageCount, imagesChosen }: RunFacts): string[] {
  const fields = Object.entries(problems).map(([name, problem]) =>
    problem === requiredText ? `Fill in ${name}.` : `Correct ${name}: ${problem}.`,
  )
  const { min, max } = imageCount
  return [
    ...(mayCall ? [] : ['Calls are billed: the role admin is required.']),
    ...(imagesChosen < min ? [`Add ${missingText(min - imagesChosen)}.`] : []),
    ...(imagesChosen > max ? [`Remove ${missingText(imagesChosen - max)}.`] : []),
    ...fields,
  ]
}

function missingText(count: number): string {
  return count === 1 ? 'one image' : `${count} images`
}
