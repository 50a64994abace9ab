import "level";

declare module "level" {
  // Of the class that the package is in Node, and not in a browser.
  interface Level<KDefault> {
    compactRange(start: KDefault, end: KDefault): Promise<void>;
  }
}
