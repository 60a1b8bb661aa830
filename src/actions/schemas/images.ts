import { z } from 'zod'
import { contentTypes } from '../../lib/image-types/image-types.ts'
import { correlationIdCharsMax, imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import texts from './field-texts.json' with { type: 'json' }

const imageItem = z
  .strictObject({
    kind: z.literal('image'),
    bytes: z
      .string()
      .refine((text) => !text.startsWith('data:'), {
        error: 'must be base64 without the prefix of a data URL',
        params: { hint: 'Drop the prefix: send only the text after "base64,".' },
      })
      .describe(texts.images.bytes),
    contentType: z.enum(contentTypes).describe(texts.images.contentType),
    correlationId: z
      .string()
      .max(correlationIdCharsMax)
      .optional()
      .describe(texts.images.correlationId),
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
    description: texts.images.images,
  })

/** `params.allImages` of an action with one result per image. */
export const allImages = z.boolean().default(false).describe(texts.images.allImages)

/** `params.images` of an action that reads all images. */
export const imageBatch = z
  .array(imageItem)
  .min(1)
  .max(imagesPerCallMax)
  .describe(texts.images.imageBatch)

/** `params.images` of an action that does not require an image. */
export const optionalImages = imageBatch.optional().describe(texts.images.optionalImages)
