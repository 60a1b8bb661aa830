import { Page } from '../parts/page.tsx'

export function NotFound() {
  return <Page title="No such page" lead="The address leads nowhere. Choose a page on the left." />
}
