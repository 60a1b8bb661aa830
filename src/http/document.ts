import { createHash } from 'node:crypto'
import type { HttpRequest, HttpResponse } from './route.ts'

export type DocumentOptions = {
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
}

export type DocumentHandler = (request: HttpRequest) => HttpResponse

/**
 * Serves a document from one buffer that all responses share, so that a response costs no
 * serialization and no copy. A client that has the document already receives 304.
 */
export function serveDocument(
  content: string | Uint8Array,
  { contentType, headers = {} }: DocumentOptions,
): DocumentHandler {
  const bytes = Buffer.from(content)
  const etag = etagOf(bytes)
  const validators = { ...headers, etag, 'cache-control': 'no-cache' }
  return (request) =>
    isUnchanged(request, etag)
      ? { status: 304, headers: validators, body: undefined }
      : { status: 200, headers: { ...validators, 'content-type': contentType }, body: bytes }
}

/** Serves a document that the first request creates, so that no start waits for it. */
export function serveCreatedDocument(
  create: () => string,
  options: DocumentOptions,
): DocumentHandler {
  let serve: DocumentHandler | undefined
  return (request) => {
    serve ??= serveDocument(create(), options)
    return serve(request)
  }
}

/** Returns the entity tag of a content. */
export function etagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` contains the entity tag. A proxy may mark a tag as weak. */
export function isUnchanged({ headers }: Pick<HttpRequest, 'headers'>, etag: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim())
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//u, '') === etag)
}
