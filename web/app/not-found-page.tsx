import { Page } from '../layout/page.tsx'

export function NotFoundPage() {
  return <Page title="Page not found" description="Choose a page from the navigation." />
}
