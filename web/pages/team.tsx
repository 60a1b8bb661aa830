import { Page } from '../parts/page.tsx'

export function TeamPage() {
  return <Page title="Team" />
}
