import { Link } from '@tanstack/react-router'

/** The product name with the logo. */
export function Brand() {
  return (
    <Link to="/" className="fg-brand">
      <BrandMark size={24} />
      <span>Facegate</span>
    </Link>
  )
}

export function BrandMark({ size }: { readonly size: number }) {
  return <img src="/mark.svg" alt="" width={size} height={size} />
}
