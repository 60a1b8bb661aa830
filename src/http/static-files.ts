import { randomBytes } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { HttpResponse, HttpRequest } from './route.ts'

type ContentEncoding = 'identity' | 'gzip' | 'br'

/** A file as it may be sent: plain, and compressed where the build has done that already. */
type StaticFile = {
  readonly contentType: string
  readonly bytes: Partial<Record<ContentEncoding, Buffer>>
}

/** Where the build puts its nonce; each answer has one of its own in its place. */
const noncePlaceholder = '__CSP_NONCE__'

/** Files under here have a hash of their content in their names. */
const hashedAssetsPath = '/assets/'

/** Paths of programs: a page in their place would be read as an answer. */
const apiPaths = /^\/(?:v1|api\/v1|console\/v1|assets)(?:\/|$)/u

/**
 * Serves the browser's files out of memory: all are read once, at the start, and no path of a request
 * ever reaches the disk. What is no file is a page of the application, if a browser asks to show it;
 * the front page is there for everybody.
 *
 * @param folder of the build; when it is not there, a page says so.
 */
export function serveStaticFiles(folder: string): (request: HttpRequest) => HttpResponse {
  const pages = readStaticFiles(folder)
  return (request) => {
    const { method, headers } = request
    if (method !== 'GET' && method !== 'HEAD') return routeNotFound
    const page = pages.get(request.path)
    if (page && request.path !== '/index.html') return fileResponse(request, page)
    const isBrowsing = headers['accept']?.includes('text/html') === true
    const wantsPage = isBrowsing || request.path === '/'
    if (!wantsPage || apiPaths.test(request.path)) return routeNotFound
    const index = pages.get('/index.html')?.bytes.identity
    return index ? applicationResponse(index.toString()) : consoleNotBuilt
  }
}

const routeNotFound: HttpResponse = { status: 404, body: { detail: 'No such route.' } }

const securityHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function fileResponse(
  { path: place, headers }: HttpRequest,
  { contentType: type, bytes }: StaticFile,
): HttpResponse {
  const accepted = (headers['accept-encoding'] ?? '').split(',').map((name) => name.split(';')[0])
  const isAccepted = (encoding: string): boolean =>
    accepted.some((name) => name?.trim() === encoding)
  const best = (['br', 'gzip'] as const).find((encoding) => bytes[encoding] && isAccepted(encoding))
  const isForEver = place.startsWith(hashedAssetsPath)
  return {
    status: 200,
    headers: {
      ...securityHeaders,
      'content-type': type,
      'cache-control': isForEver ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      vary: 'accept-encoding',
      ...(best && { 'content-encoding': best }),
    },
    body: bytes[best ?? 'identity'],
  }
}

/**
 * The one page of the application. Scripts come from this service alone, none inline; styles that the
 * component library makes at run time carry the nonce; nobody may put the page into a frame.
 */
function applicationResponse(html: string): HttpResponse {
  const nonce = randomBytes(16).toString('base64')
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  const headers = {
    ...securityHeaders,
    'cache-control': 'no-cache',
    'content-security-policy': policy.join('; '),
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
<h1>The console is not built</h1><p>The service itself runs. Build the console with
<code>npm run build</code> and start again; the API is described at <a href="/docs">/docs</a>.</p>`,
}

function readStaticFiles(folder: string): ReadonlyMap<string, StaticFile> {
  const pages = new Map<string, StaticFile>()
  if (!existsSync(folder)) return pages
  for (const entry of globSync('**/*', { cwd: folder, withFileTypes: true })) {
    const type = contentTypes[path.extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const file = path.join(entry.parentPath, entry.name)
    const place = `/${path.relative(folder, file).split(path.sep).join('/')}`
    pages.set(place, { contentType: type, bytes: readEncodings(file) })
  }
  return pages
}

function readEncodings(file: string): StaticFile['bytes'] {
  const read = (name: string): Buffer | undefined =>
    existsSync(name) ? readFileSync(name) : undefined
  const [br, gzip] = [read(`${file}.br`), read(`${file}.gz`)]
  return { identity: readFileSync(file), ...(br && { br }), ...(gzip && { gzip }) }
}

/** What the build may consist of; anything else, such as source maps, is not served. */
const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
}
