const site = '/docs/'

/** The pages of the documentation about the pages of the console, from the root of the site. */
export const helpPages: Readonly<Record<string, string>> = {
  '/': 'operations/console.html#the-pages',
  '/live': 'operations/console.html#the-pages',
  '/log': 'reference/gate.html#request-log',
  '/analytics': 'operations/console.html#charts',
  '/playground': 'reference/actions.html',
  '/pair-tester': 'recognition/calibration.html',
  '/subjects': 'operations/console.html#working-with-subjects',
  '/gallery-health': 'recognition/gallery-health.html',
  '/groups': 'reference/routes/index.html',
  '/deletions': 'privacy.html#ways-to-delete-data',
  '/projects': 'operations/console.html#confirmations',
  '/keys': 'operations/console.html#api-keys',
  '/webhooks': 'reference/webhooks.html',
  '/team': 'operations/console.html#roles',
  '/team/audit': 'operations/console.html#the-audit-log',
  '/money': 'reference/gate.html#billing',
  '/money/ledger': 'reference/gate.html#billing',
  '/models': 'recognition/model-packs.html',
  '/system': 'operations/console.html#the-system-page',
  '/account': 'operations/console.html#passwords-and-sessions',
}

/** Returns the address of the documentation about a page of the console. */
export function helpAddressOf(pathname: string): string {
  const page = helpPages[pathname] ?? helpPages[pathname.replace(/\/[^/]+$/u, '')]
  return site + (page ?? '')
}
