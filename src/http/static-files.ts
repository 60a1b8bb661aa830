import { randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { etagOf, isUnchanged } from './document.ts'
import { noSuchRoute } from '../lib/errors.ts'
import type { HttpResponse, HttpRequest } from './route.ts'
import types from './content-types.json' with { type: 'json' }

/** A file in its available encodings; the build compresses files in advance. */
type StaticFile = {
  readonly contentType: string
  /** Of the content; the encodings of a file share it as a weak tag. */
  readonly etag: string
  readonly bytes: Partial<Record<'identity' | 'gzip' | 'br', Buffer>>
}

/** The build inserts this placeholder; each response gets a new nonce instead. */
const noncePlaceholder = '__CSP_NONCE__'

/** Files below this path have a hash of their content in the name. */
const hashedAssetsPath = '/assets/'

/** API paths never return the application page, because clients would parse it as a response. */
const apiPaths = /^\/(?:v1|api\/v1|console\/v1|assets|docs)(?:\/|$)/u

/**
 * Serves the files of the console and the site of the documentation from memory. All files are read
 * once, at the start, so no request path reaches the disk. Other paths return the application page if
 * the request accepts HTML; `/` always does.
 *
 * @param folder the build folder; if it does not exist, `/` returns an explanation.
 */
export function serveStaticFiles(folder: string): (request: HttpRequest) => HttpResponse {
  const files = readStaticFiles(folder)
  const page = files.get('/index.html')?.bytes.identity?.toString()
  return (request) => {
    const { method, headers } = request
    if (method !== 'GET' && method !== 'HEAD') return routeNotFound
    if (files.has(`${request.path}/index.html`)) return redirectTo(`${request.path}/`)
    const filePath = request.path.replace(/\/$/u, '/index.html')
    const file = files.get(filePath)
    if (file && filePath !== '/index.html') return fileResponse(request, file)
    const acceptsHtml = headers['accept']?.includes('text/html') === true
    const wantsPage = acceptsHtml || request.path === '/'
    if (!wantsPage || apiPaths.test(request.path)) return routeNotFound
    return page === undefined ? consoleNotBuilt : applicationResponse(page)
  }
}

/** A redirect is not stored: the target depends on the build. */
function redirectTo(location: string): HttpResponse {
  return { status: 302, headers: { location, 'content-type': 'text/plain' }, body: location }
}

const routeNotFound: HttpResponse = { status: 404, body: { detail: noSuchRoute } }

const securityHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

function fileResponse(request: HttpRequest, file: StaticFile): HttpResponse {
  const { path: requestPath, headers } = request
  const { contentType, etag, bytes } = file
  const accepted = (headers['accept-encoding'] ?? '').split(',').map((name) => name.split(';')[0])
  const isAccepted = (encoding: string) => accepted.some((name) => name?.trim() === encoding)
  const best = (['br', 'gzip'] as const).find((encoding) => bytes[encoding] && isAccepted(encoding))
  const isImmutable = requestPath.startsWith(hashedAssetsPath)
  const cacheHeaders = {
    ...securityHeaders,
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(contentType === contentTypes['.html'] && sitePolicy),
    etag: `W/${etag}`,
    vary: 'accept-encoding',
  }
  if (isUnchanged(request, etag)) return { status: 304, headers: cacheHeaders, body: undefined }
  const encoding = best && { 'content-encoding': best }
  return {
    status: 200,
    headers: { ...cacheHeaders, 'content-type': contentType, ...encoding },
    body: bytes[best ?? 'identity'],
  }
}

/**
 * Scripts are loaded only from this service, and inline scripts are blocked. A page cannot be embedded
 * in a frame.
 */
function policyOf(styleSources: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styleSources}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const sitePolicy = { 'content-security-policy': policyOf("'self'") }

/**
 * Returns the application page. Styles that the component library creates at run time have the nonce.
 */
function applicationResponse(html: string): HttpResponse {
  const nonce = randomBytes(16).toString('base64')
  const headers = {
    ...securityHeaders,
    'cache-control': 'no-cache',
    'content-security-policy': policyOf(`'self' 'nonce-${nonce}'`),
    'content-type': 'text/html; charset=utf-8',
    'permissions-policy': 'camera=(self), geolocation=(), microphone=()',
  }
  return { status: 200, headers, body: html.replaceAll(noncePlaceholder, nonce) }
}

const consoleNotBuilt: HttpResponse = {
  status: 404,
  headers: {
    ...securityHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  },
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Facegate</title>
<h1>The console is not built</h1><p>The service is running. Build the console with
<code>npm run build</code> and restart. <a href="/v1/openapi.json">/v1/openapi.json</a> describes
the API.</p>`,
}

function readStaticFiles(folder: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>()
  if (!existsSync(folder)) return files
  for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true })) {
    const contentType = contentTypes[path.extname(entry.name)]
    if (!entry.isFile() || contentType === undefined) continue
    const file = path.join(entry.parentPath, entry.name)
    const urlPath = `/${path.relative(folder, file).split(path.sep).join('/')}`
    const bytes = readEncodings(file)
    files.set(urlPath, { contentType, etag: etagOf(bytes.identity), bytes })
  }
  return files
}

function readEncodings(file: string): StaticFile['bytes'] & { readonly identity: Buffer } {
  const read = (name: string) => (existsSync(name) ? readFileSync(name) : undefined)
  const [br, gzip] = [read(`${file}.br`), read(`${file}.gz`)]
  return { identity: readFileSync(file), ...(br && { br }), ...(gzip && { gzip }) }
}

/** The served file types; others, such as source maps, are not served. */
const contentTypes: Readonly<Record<string, string>> = types
