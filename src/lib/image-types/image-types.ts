import { sniffFileType } from './sniff-file-type.ts'

/** The file types that the setting IMAGE_TYPES_EXTRA can add to JPEG and PNG. */
export const extraImageTypes = ['webp', 'gif', 'avif', 'tiff'] as const

export type ExtraImageType = (typeof extraImageTypes)[number]

/** Content type → file type, as `sniffFileType` names it. */
const fileTypes = {
  'image/jpeg': 'JPEG',
  'image/jpg': 'JPEG',
  'image/png': 'PNG',
  'image/webp': 'WebP',
  'image/gif': 'GIF',
  'image/avif': 'AVIF',
  'image/tiff': 'TIFF',
} as const

export type ImageContentType = keyof typeof fileTypes
export type ImageFileType = (typeof fileTypes)[ImageContentType]

/** The content types that every server accepts. */
const standardContentTypes = [
  'image/jpeg',
  'image/jpg',
  'image/png',
] as const satisfies readonly ImageContentType[]

/** Every content type that a server can accept. */
export const contentTypes = [
  ...standardContentTypes,
  ...extraImageTypes.map((type) => `image/${type}` as const),
] as const

export function isImageContentType(text: unknown): text is ImageContentType {
  return typeof text === 'string' && Object.hasOwn(fileTypes, text)
}

/** Returns the content types that a server with these extra types accepts. */
export function acceptedContentTypes(
  extraTypes: readonly ExtraImageType[] = [],
): readonly ImageContentType[] {
  return [...standardContentTypes, ...extraTypes.map((type) => `image/${type}` as const)]
}

/** Returns the names of the file types that a server with these extra types accepts, for messages. */
export function acceptedFileTypes(extraTypes: readonly ExtraImageType[] = []): ImageFileType[] {
  return [...new Set(acceptedContentTypes(extraTypes).map(fileTypeOf))]
}

export function fileTypeOf(contentType: ImageContentType): ImageFileType {
  return fileTypes[contentType]
}

/** Returns the content type that the first bytes indicate; undefined for any other file type. */
export function contentTypeOf(bytes: Uint8Array): ImageContentType | undefined {
  const fileType = sniffFileType(bytes)
  return contentTypes.find((contentType) => fileTypes[contentType] === fileType)
}
