import path from 'node:path'

/** The address of the service in the examples. The pages of a running service show its own address. */
const exampleOrigin = 'http://127.0.0.1:8080'

/**
 * Returns the path of a page from the root of the site: that of its file without `docs/`. `README.md`
 * is the index of its folder. Other files of the root folder are in `project`, because systems that
 * ignore case cannot have `SECURITY.html` beside `security.html`.
 */
export function pagePathOf(file: string): string {
  const isInRoot = !file.includes('/') && file !== 'README.md'
  const page = isInRoot ? `project/${file.toLowerCase()}` : sitePathOf(file)
  return page.replace(/README\.md$/u, 'index.md').replace(/\.md$/u, '.html')
}

/** Returns the path of a file that the site contains unchanged, such as a picture. */
export function sitePathOf(file: string): string {
  return file.replace(/^docs\//u, '')
}

/** Returns `target` (a path from the root of the site) as a link relative to the page of `file`. */
export function relativeLink(file: string, target: string): string {
  return path.posix.relative(path.posix.dirname(pagePathOf(file)), target) || '.'
}

/** Returns whether a link leads outside the repository. */
export function isExternalLink(href: string): boolean {
  return /^[a-z]+:/u.test(href)
}

/** Returns the path from the root of the site, if the link leads to `/docs` of the service. */
export function servedSitePathOf(href: string): string | undefined {
  const [, target] =
    new RegExp(`^${RegExp.escape(exampleOrigin)}/docs(?:/(.*))?$`, 'u').exec(href) ?? []
  return href.startsWith(`${exampleOrigin}/docs`) ? target || 'index.html' : undefined
}
