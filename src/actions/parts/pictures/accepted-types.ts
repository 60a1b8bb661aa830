import {
  acceptedContentTypes,
  contentTypes,
  isImageContentType,
  type ExtraImageType,
} from '../../../lib/image-types/image-types.ts'
import type { InputProblem } from '../../../lib/validation/describe-issue.ts'

type CheckedParams = {
  /** They may be invalid. */
  readonly params: unknown
  readonly extraImageTypes: readonly ExtraImageType[] | undefined
}

const quoted = (types: readonly string[]): string =>
  types.map((type) => JSON.stringify(type)).join(', ')

/**
 * Returns the problems of parameters with the content types that this server accepts: the schema
 * contains those that any server can accept.
 */
export function withAcceptedTypes(
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
  const { images } = Object(params) as { readonly images?: unknown }
  if (!Array.isArray(images)) return []
  return images.flatMap((image: unknown, index): InputProblem[] => {
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
