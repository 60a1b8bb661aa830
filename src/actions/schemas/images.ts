import { z } from 'zod'
import { contentTypes } from '../../lib/image-types/image-types.ts'
import { correlationIdCharsMax, imagesPerCallMax } from '../../lib/limits/call-limits.ts'

const imageItem = z
  .strictObject({
    kind: z.literal('image'),
    bytes: z
      .string()
      .refine((text) => !text.startsWith('data:'), {
        error: 'must be base64 without the prefix of a data URL',
        params: { hint: 'Drop the prefix: send only the text after "base64,".' },
      })
      .meta({
        description: 'Base64 (RFC 4648 section 4, padded) of a JPEG or PNG of at most 8 MiB.',
      }),
    contentType: z.enum(contentTypes).meta({
      description:
        'The type of the bytes. Every server accepts `image/jpeg`, `image/jpg` and `image/png`, and the others where its setting IMAGE_TYPES_EXTRA permits them.',
    }),
    correlationId: z
      .string()
      .max(correlationIdCharsMax)
      .optional()
      .meta({ description: 'Returned with the result; `auto-<index>` if absent.' }),
  })
  .meta({ id: 'ImageItem' })

/** `params.images` of an action that reads one image. The type guarantees the first image. */
export const images = z
  .tuple([imageItem], imageItem)
  .refine(
    (list) => list.length <= imagesPerCallMax,
    `must be a list of 1 to ${imagesPerCallMax} items`,
  )
  .meta({
    minItems: 1,
    maxItems: imagesPerCallMax,
    description:
      'The first image is analyzed. Further images are analyzed only with `allImages`; otherwise `warnings` reports that they were not used.',
  })

/** `params.allImages` of an action with one result per image. */
export const allImages = z.boolean().default(false).meta({
  description:
    'Analyzes each of up to ten images, with a separate result in `results[]`; an image that fails does not affect the others. Each image that succeeds is charged.',
})

/** `params.images` of an action that reads all images. */
export const imageBatch = z
  .array(imageItem)
  .min(1)
  .max(imagesPerCallMax)
  .meta({ description: 'Each image is one item of the batch, with a separate result.' })

/** `params.images` of an action that does not require an image. */
export const optionalImages = imageBatch.optional().meta({
  description: 'The first image is analyzed; `warnings` reports that further images were not used.',
})
