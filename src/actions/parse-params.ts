import type { z } from 'zod'
import { toProblem, invalidRequest } from '../lib/errors.ts'
import {
  type ExtraImageType,
  acceptedContentTypes,
  contentTypes,
  isImageContentType,
} from '../lib/image-types/image-types.ts'
import { type InputProblem, parseInput } from '../lib/validation/describe-issue.ts'
import { sentImages } from '../lib/validation/sent-images.ts'

/** @throws ActionError INVALID_REQUEST with one problem per issue, each with its JSON path. */
export function parseParams<Params extends z.ZodType>(
  schema: Params,
  params: unknown,
  extraImageTypes: readonly ExtraImageType[] | undefined,
): z.output<Params> {
  const result = parseInput(schema, params, 'params')
  const invalid = result.success ? [] : result.problems
  const count = result.success ? 0 : result.count - invalid.length
  const problems = withAcceptedTypes(invalid, { params, extraImageTypes }).map(
    ({ rule, ...location }) =>
      toProblem({ code: 'INVALID_REQUEST', message: `${location.path}: ${rule}`, ...location }),
  )
  if (result.success && problems.length === 0) return result.data
  throw invalidRequest(problems, { count: problems.length + count })
}

type CheckedParams = {
  /** They may be invalid. */
  readonly params: unknown
  readonly extraImageTypes: readonly ExtraImageType[] | undefined
}

const quoted = (types: readonly string[]) => types.map((type) => JSON.stringify(type)).join(', ')

/**
 * Returns the problems of parameters with the content types that this server accepts: the schema
 * contains those that any server can accept.
 */
function withAcceptedTypes(
  problems: readonly InputProblem[],
  { params, extraImageTypes }: CheckedParams,
): InputProblem[] {
  const accepted = acceptedContentTypes(extraImageTypes)
  const corrected = problems.map((problem) => ({
    ...problem,
    rule: problem.rule.replace(quoted(contentTypes), quoted(accepted)),
  }))
  return [...corrected, ...findRefusedTypes(params, accepted)]
}

function findRefusedTypes(params: unknown, accepted: readonly string[]): InputProblem[] {
  return sentImages(params).flatMap((image, index): InputProblem[] => {
    const { contentType } = Object(image) as { readonly contentType?: unknown }
    if (!isImageContentType(contentType) || accepted.includes(contentType)) return []
    return [
      {
        path: `params.images[${index}].contentType`,
        rule: `must be one of ${quoted(accepted)}; this server does not accept ${contentType}`,
        hint: 'Convert the picture to JPEG or PNG, or add its type to the setting IMAGE_TYPES_EXTRA of the server.',
      },
    ]
  })
}
