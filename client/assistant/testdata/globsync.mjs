// The suite imports fs.globSync for commands that are not used here. Node.js 20 lacks it.
import { register } from 'node:module'

const hooks = `
export async function resolve(name, context, next) {
  return name === 'fs' ? { url: 'fs:with-glob', shortCircuit: true } : next(name, context)
}
export async function load(url, context, next) {
  const source = "import fs from 'node:fs'; export * from 'node:fs'; export default fs; export const globSync = fs.globSync"
  return url === 'fs:with-glob' ? { format: 'module', shortCircuit: true, source } : next(url, context)
}`

register('data:text/javascript,' + encodeURIComponent(hooks))
