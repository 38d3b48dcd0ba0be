export interface Slot {
  grow(bytes: number): void;
  leave(): void;
}
